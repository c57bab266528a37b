package language

import (
	"strings"
	"sync"
)

// lists are the languages that share a script with others, each with its most common words and with
// letters that few others of its script have.
var lists = [...]struct{ tag, letters, words string }{
	{"en", "", "the of and to in is that it for was on are with as at be this have from or by not but what all were we when your can there an which their if will each about how up out them then she many some so these would other into has more her like him time no only its who been now than over also after our you they he his my do does"},
	{"de", "ßäöü", "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei ich wir uns unser unsere gibt es kann wenn unter kein keine was ihr ihre sehr schon diese dieser dieses alle"},
	{"fr", "çèêëœùîû", "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont la avec ou son aux mais comme nous vous ils elle cette ces être fait leur leurs sa ses si tout tous toutes dont où y d l qu n s c j notre nos votre vos je on été sans aussi peut très entre même sous deux"},
	{"es", "ñáíóú¿¡", "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está mi porque qué sólo han yo hay vez puede todos así nos ni parte tiene él uno donde bien tiempo mismo ese nuestro nuestra nuestros"},
	{"pt", "ãõâêçáíóú", "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos ter seus quem nas me esse estão você tinha foram essa num nem suas meu às minha têm numa pelos nossa nosso são pode"},
	{"it", "èìòàù", "di che e la il un a è per in una non si da con sono del le i al della ma come dei lo gli nel alla anche più ha o se alle delle su questo mi ci dal suo sua ti era ho questa dalla nella ai quando essere loro molto tutti tutto solo dopo io cosa perché nostro nostra nostri anni ed fra tra degli può stato dove sul sulla quello ogni l dell all nell"},
	{"nl", "ëï", "de van het een en in is dat op te zijn met voor niet die aan er om ook als bij of door maar uit dan nog naar heeft hij tot ze wordt deze over zo werd hebben wat kan worden meer geen al ik je ons onze u uw wij we was onder tegen na waar veel zou dit hun haar mijn toen tussen alleen hoe alle wel twee jaar kunnen"},
	{"sv", "åäö", "och i att det som en på är av för med till den har de inte om ett han men var jag sig från vi så kan när år under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra mycket än här då sedan över bara in blir upp även vad få två vill ha många hur mer går utan oss vår våra detta dem någon du hennes hans"},
	{"da", "åøæ", "og i at det som en på er af for med til den har de ikke om et han men var jeg sig fra vi så kan når år under også efter eller nu sin der ved mod skal ville kommer ud får findes være havde alle andre meget end her da siden over bare ind bliver op hvad to vil mange hvor mere går uden os vores dette dem nogen du hendes hans blev selv kun mellem deres vore jer blive noget"},
	{"no", "åøæ", "og i at det som en på er av for med til den har de ikke om et han men var jeg seg fra vi så kan når år under også etter eller nå sin der ved mot skal ville kommer ut får finnes være hadde alle andre mye enn her da siden over bare inn blir opp hva to vil mange hvor mer går uten oss vår våre dette dem noen du hennes hans ble selv kun mellom deres ikkje eg ein frå vere meg noe"},
	{"fi", "äö", "ja on ei että se hän oli ovat en mutta ole kun joka kuin niin tai mitä myös vain jos sen mukaan hänen kanssa ne voi nyt sitä jo olla ollut jälkeen mikä tämä oma ennen sekä vielä joka jotka kaikki me te he minä sinä tässä siitä koska kuinka miten meidän mutta noin aina sillä vaan olisi hyvin muun vuoden vuonna tämän joita niiden eli eivät emme"},
	{"pl", "ąćęłńśźż", "w i na z się do nie że to o jest po od za jak dla przez co jego jej ale czy tak przy jako są oraz tym może lub był być było już tylko ich który która które ten tego też bardzo pod bez przed nad są jednak gdy ze roku my ja on ona oni nas nasz nasza więc między wszystko wszystkich można tej gdzie kiedy mnie mu także"},
	{"cs", "ěřůčšžýď", "a se v na je že s z do o i to k ve pro za by ale si po jako jsou od jeho u však jsem tak než který která které jen nebo byl byla bylo být už při již co podle až ze mezi před také může své jak své ho mu pod když jejich což více kde není jsme vás nás naše tento této tom aby není dne"},
	{"sk", "ľĺŕôčšžýď", "a sa v na je že s z do o i to k vo pre za by ale si po ako sú od jeho u však som tak než ktorý ktorá ktoré len alebo bol bola bolo byť už pri keď čo podľa až zo medzi pred tiež môže svoje ho mu pod ich viac kde nie sme vás nás naše tento tejto tom aby ktorí bude boli sme"},
	{"hu", "őűöü", "a az és hogy nem is egy ez van meg csak de ha már volt mint el még azt sem vagy ezt mert kell nagyon minden ki fel le én ő mi ti ők aki ami amely lesz után szerint között lehet más majd így úgy most itt ott annak ennek volna pedig során illetve által két olyan ilyen alatt nincs vannak voltak hanem a be ne"},
	{"ro", "ășțşţâî", "de și în a la cu o nu că pe din care este un mai se pentru ce sau prin lui fi au cel al ale ca sunt fost avea dar dacă până după iar între doar acest această aceste foarte tot toate toți când unde sale său sa el ea noi voi ei lor am ai am fie făcut poate spre fără către unei unui noastre nostru şi"},
	{"tr", "ğşıçöü", "ve bir bu da de için ile olarak çok daha en olan ne gibi kadar sonra var ki o mi her ya veya ama değil olduğu iki ise göre olduğunu içinde tarafından ben sen biz siz onlar diye bana şey yok hiç bütün tüm en ilk yeni önce zaman üzerinde kendi nasıl sadece ancak bunu eden oldu"},
	{"vi", "ăđơưạảấầẩậắằặẹẻẽếềểễệỉịọỏốồổỗộớờởợụủứừửữựỳỵỷỹ", "và của là có được trong cho các với không một những người đã để này khi đến từ về như theo tại vào ra cũng hay hoặc trên nhiều năm nhưng bị nếu sẽ đó rất còn phải lại chỉ sau việc mà thì nhất"},
	{"id", "", "yang dan di ini untuk dengan dari itu tidak dalam pada akan ke ada juga adalah oleh atau sebagai dapat telah saya kami kita mereka bisa lebih karena tersebut sudah anda dia seorang secara para hanya saat setiap bagi tetapi serta harus menjadi banyak namun antara orang tahun hari satu bahwa seperti sangat semua"},
	{"hr", "čćđšž", "i u je na se da za od su s a o koji koja koje kao iz ili što nije do ne sa po bi ali te ako biti može samo bio bila bilo više sve će kako još ima pri nakon prije već ih joj njegov smo ste sam ovo ovaj to taj tako gdje gde kada mogu svi kod između tome"},
	{"sl", "čšž", "in je na se v da za so ki s pa z ne bi tudi po o od ali kot ni kar pri še če bil bila bilo biti iz do lahko ga jih le več vse smo ste sem tem to ter kako zaradi med pred svoje zelo kjer kdaj vendar naš naše svoj ob že sta ima imajo"},
	{"et", "õäöü", "ja on ei et see oli mis ta kui ka oma aga nii siis või ning selle kes mida seda nad ole juba veel ainult pärast mitte olid enne poolt kõik väga üle kus ma sa me te nende meie tema olla oleks need välja aasta pole kuid ühe eest kuidas peab saab"},
	{"lv", "āēģīķļņūšž", "un ir ar no uz par ka kas tas bija es ko vai lai tā bet kā arī pie pēc nav tikai tik jau viņš šo viņa gan ja līdz savu savas to tie šī šis mēs jūs viņi var būt ļoti kad kur visi starp pirms gada gadā mūsu tiek vairāk"},
	{"lt", "ąčęėįšųūž", "ir kad į yra tai su iš kaip bet buvo o tik ar už apie nuo dėl jis po prie ne jau taip dar jo jos kurie kuris kuri per be pagal savo bus gali šis ši jei arba kai mes jūs jie labai metų metais iki tarp mūsų buvo nėra"},
	{"ca", "çèòïàŀ", "de la i que el en a les per un és del amb una els no al es se com més va ha o dels pel ser són aquest aquesta sobre també però entre fins quan seva seu on molt ja des han pot tots tot seus hi fer nostre nostra sense després dos cada aquests anys l d s n als ens"},
	{"ru", "ыэёъ", "и в не на что я с он как это по но к из у за то все так его для от о мы вы же бы она только или до был было была были быть если уже когда их ещё при во со нет чтобы который которая которые где есть ее её может после тоже там этот эта можно под без лет также наш нашем наши этого чем очень"},
	{"uk", "їєґі", "і в не на що я з він як це по але до та у за то все так його для від про ми ви ж би вона тільки або був було була були бути якщо вже коли їх ще при є щоб який яка які де її може після теж там цей ця можна під без років також наш нашому наші цього дуже й із зі"},
	{"bg", "ъщ", "и в не на че да се с той като това по но от за до са е си или има при ще който която които един една както след беше са го му ѝ ги със този тази тези само още все ни ви те нас също между през може бил били била къде когато където ли без пред много няма нашия"},
	{"sr", "јљњћђџ", "и у је на се да за од су са а о који која које као из или што није до не по би али те ако бити може само био била било више све ће како још има при након пре већ их смо сте сам ово овај то тај тако где када могу сви код између"},
	{"mk", "ѓќѕјљњџ", "и во на се да за од со е не што ќе го ја ги тоа како а но по или како само до при кој која кои има беше биде може според сите овој оваа овие уште нема бил била биле сум сме сте тие тој таа меѓу кога каде ли им му ни многу"},
	{"be", "ўіэыё", "і ў не на што я з ён як гэта па але да у за то усе так яго для ад пра мы вы ж бы яна толькі або быў было была былі быць калі ужо іх яшчэ пры каб які якая якія дзе ёсць яе можа пасля таксама там гэты гэтая пад без гадоў наш вельмі"},
	{"ar", "ةىأإؤئ", "في من على إلى أن هذا هذه التي الذي عن مع كان ما لا أو قد كل هو هي بعد بين لم كما ذلك و ثم عند حيث إن غير حتى وقد كانت تم يكون ليس أي منذ وهو وهي قبل لها له به بها فيه فيها عليه عليها أيضا يمكن يوم خلال تلك نحن أنت ولا وفي ومن"},
	{"fa", "پچگژکی", "در و به از که این را با است برای آن یک خود تا کرد بر هم نیز شده می بود شود ها یا وی شد دارد ما اما هر آنها باید دو اگر همه چه کند نمی هایی شما من او بین پس پیش روز سال کنید بی دیگر های بسیار وجود"},
	{"ur", "ٹڈڑےںھہپچگ", "کے کی میں ہے اور سے کا کو اس کہ ہیں پر نے یہ بھی ایک تھا جو ہو تو کر نہیں وہ گیا کیا ان لیے تھے ہم آپ تھی کرنے ہوئے ہی تک اپنے بعد یا جس کسی ساتھ تمام دن"},
	{"hi", "", "के की में है और से का को इस कि हैं पर ने यह भी एक था जो हो तो कर नहीं वह गया किया उन लिए थे हम आप थी करने हुए ही तक अपने बाद या जिस किसी साथ सभी दिन जाता सकता सकते रहा"},
	{"mr", "ळ", "आणि आहे या व हे ते आहेत की तो ती ही होते केले तर मध्ये त्यांनी झाले असे होता नाही आपल्या त्या काही साठी म्हणून येथे किंवा मी एक पण हा होती करून त्यांच्या जाते असून"},
	{"ne", "", "र को मा छ हो पनि यो लागि गर्न गरेको एक भएको छन् तथा ले बाट यस गरी तर नेपाल वा हुन्छ थियो उनले हामी भन्ने रहेको गर्ने के म तपाईं गरिएको सबै हरेक सक्नुहुन्छ"},
}

const languageCount = len(lists)

// tables look up words and letters.
type tables struct {
	words   map[string][]int
	letters map[rune][]int
}

// tablesOnce builds the tables for the first text.
var tablesOnce = sync.OnceValue(func() *tables {
	t := &tables{words: make(map[string][]int, 2500), letters: make(map[rune][]int, 200)}
	for l, list := range lists {
		for _, w := range strings.Fields(list.words) {
			if have := t.words[w]; len(have) == 0 || have[len(have)-1] != l {
				t.words[w] = append(have, l)
			}
		}
		for _, r := range list.letters {
			t.letters[r] = append(t.letters[r], l)
		}
	}
	return t
})
