package weburl

import (
	"fmt"
	"slices"
	"strings"
)

// rule names query parameters to be removed.
type rule struct {
	name   string
	prefix bool // the name may continue
	exact  bool // case matters
	shape  shape
}

// bucket holds the rules for names of one first byte.
type bucket struct {
	lengths uint64 // of the names that a rule may apply to, each a bit
	rules   []rule
}

func (b *bucket) add(r rule) {
	bit := lengthBit(len(r.name))
	if r.prefix {
		bit = -bit // and all longer ones
	}
	b.lengths |= bit
	b.rules = append(b.rules, r)
}

// lengthBit takes all names that are longer than any in the lists as one length.
func lengthBit(n int) uint64 { return 1 << min(n, 63) }

// shape is what else must be so for a parameter to be removed, where its name
// alone does not tell.
type shape uint8

const (
	anyValue     shape = iota
	hex32              // the value is 32 hexadecimal digits, such as an MD5 sum
	token16            // the value is 16 letters and digits, or more
	beforeToken        // a parameter cftoken follows
	notInWebView       // the path is not that of a mail shown on the web
)

// String shows all of a rule.
func (r rule) String() string {
	return fmt.Sprintf("%q prefix=%t exact=%t shape=%d", r.name, r.prefix, r.exact, r.shape)
}

func (r *rule) drops(p *parameter) bool {
	return r.isNamed(p.name) && r.shape.fits(p)
}

func (r *rule) isNamed(name string) bool {
	if len(name) != len(r.name) && (!r.prefix || len(name) < len(r.name)) {
		return false
	}
	name = name[:len(r.name)]
	return name == r.name || !r.exact && strings.EqualFold(name, r.name)
}

// fits must not depend on another parameter that may be removed while this one
// stays, or a second pass would find something else.
func (s shape) fits(p *parameter) bool {
	switch s {
	case hex32:
		return len(p.value) == 32 && consistsOf(p.value, isHex)
	case token16:
		return len(p.value) >= 16 && consistsOf(p.value, isLetterOrDigit)
	case beforeToken:
		const token = "cftoken="
		return len(p.rest) >= len(token) && strings.EqualFold(p.rest[:len(token)], token)
	case notInWebView:
		return !strings.Contains(p.path, "emailWebview")
	default:
		return true
	}
}

func consistsOf(s string, is func(byte) bool) bool {
	for i := range len(s) {
		if !is(s[i]) {
			return false
		}
	}
	return true
}

func isLetterOrDigit(c byte) bool { return isLetter(c) || isDigit(c) }

// named makes rules without regard to case, of names that may end in "*".
func named(s shape, names ...string) []rule {
	rules := make([]rule, len(names))
	for i, text := range names {
		name, prefix := strings.CutSuffix(text, "*")
		rules[i] = rule{name: name, prefix: prefix, shape: s}
	}
	return rules
}

// trackingParameters are written into links by advertisers, mailers and
// analytics, and read by their scripts in the browser; the page is the same
// without. Only names that mean nothing else anywhere are in the list: no "ref",
// "source", "cid", "si" or "spm". It is drawn from what browsers and blockers
// remove on every site: Brave (components/query_filter in brave-core), Firefox
// (the query-stripping collection), AdGuard's TrackParamFilter (general_url.txt)
// and uBlock Origin's privacy filters. Those lists are made for people, to whom
// a tag of a campaign matters less than one of a person; to a crawl both only
// multiply a page.
var trackingParameters = slices.Concat(named(anyValue,
	// Campaigns: Google Analytics, once Urchin, and Matomo, once Piwik.
	"utm_*", "ga_source", "ga_medium", "ga_term", "ga_content", "ga_campaign", "ga_place",
	"mtm_*", "matomo_campaign", "matomo_kwd", "matomo_keyword", "piwik_campaign", "piwik_kwd", "piwik_keyword",
	"pk_campaign", "pk_cpn", "pk_kwd", "pk_keyword", "pk_source", "pk_medium", "pk_content", "pk_cid",
	// Google: Ads, Campaign Manager, Merchant Center, Analytics between domains.
	"gclid", "gclsrc", "dclid", "gbraid", "wbraid", "gad_source", "gad_campaignid", "srsltid", "_ga", "_gl",
	// Facebook and Instagram.
	"fbclid", "fb_action_ids", "fb_action_types", "fb_ref", "fb_source", "igshid", "igsh",
	"action_object_map", "action_type_map", "action_ref_map",
	// Other sellers of clicks: Microsoft, Yandex, X, TikTok, Pinterest, LinkedIn,
	// Reddit, Snapchat, Adobe, Impact, Commission Junction, Taboola, Outbrain,
	// Branch, Yahoo, Wicked Reports, AT Internet, and others.
	"msclkid", "yclid", "ysclid", "ymclid", "_openstat", "twclid", "ttclid", "epik", "li_fat_id",
	"rdt_cid", "sccid", "ef_id", "s_kwcid", "s_cid", "irclickid", "irgwc", "cjevent", "tblci", "dicbo",
	"_branch_match_id", "_branch_referrer", "guccounter", "guce_referrer", "guce_referrer_sig",
	"wickedid", "rb_clickid", "unicorn_click_id", "xtor",
	// HubSpot.
	"_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsCtaTracking", "hsa_acc", "hsa_ad", "hsa_cam", "hsa_grp",
	"hsa_kw", "hsa_la", "hsa_mt", "hsa_net", "hsa_ol", "hsa_src", "hsa_tgt", "hsa_ver",
	// Other mailers: Mailchimp, MailerLite, Omeda, Vero, Drip, Klaviyo, Eloqua,
	// Acoustic, Bronto, Listrak, Dotdigital, Blueshift, Emarsys, beehiiv, Kit,
	// Salesforce, AT Internet, Squarespace, ActiveCampaign, and others.
	"mc_cid", "mc_eid", "mc_tc", "ml_subscriber", "ml_subscriber_hash", "oly_anon_id", "oly_enc_id",
	"vero_id", "vero_conv", "__s", "_ke", "_kx", "elqTrack", "elqTrackId", "elqaid", "elqat", "elqCampaignId",
	"spMailingID", "spUserID", "spJobID", "spReportId", "_bta_tid", "_bta_c",
	"trk_contact", "trk_msg", "trk_module", "trk_sid", "dm_i", "bsft_clkid", "bsft_uid",
	"sc_customer", "sc_eh", "sc_uid", "oft_c", "oft_ck", "oft_d", "oft_id", "oft_ids", "oft_k", "oft_lk", "oft_sk",
	"_bhlid", "ck_subscriber_id", "et_rid", "at_recipient_id", "at_recipient_list", "ss_email_id", "vgo_ee",
), named(notInWebView,
	// Marketo, whose mails are shown on the web by it: Brave spares these, too.
	"mkt_tok",
))

// sessionParameters are session ids in queries. Most are of Heritrix
// (StripSessionIDs, StripSessionCFIDs) and of the Internet Archive's urlcanon,
// with their conditions on the value where the name also means other things: a
// talk of a conference has a session_id, a search may be called s.
var sessionParameters = slices.Concat(
	// Servlets, PHP, classic ASP ("ASPSESSIONID" and eight letters), Zen Cart,
	// osCommerce and its descendants xt:Commerce and modified.
	named(anyValue, "jsessionid", "PHPSESSID", "ASPSESSIONID*", "zenid", "osCsid", "XTCsid", "MODsid"),
	// ColdFusion, which writes both, one behind the other.
	named(anyValue, "cftoken"), named(beforeToken, "cfid"),
	// phpBB and others, vBulletin.
	named(hex32, "sid", "s"),
	named(token16, "sessionid", "session_id"),
)
