#compdef seine
# zsh completion for seine: source <(seine completion zsh), after compinit
_seine() {
	local kind line
	local -a described
	{
		read -r kind
		while IFS= read -r line; do
			described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
		done
	} < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( ${#described} )) && _describe -V seine described
	[[ $kind == files ]] && _files
	return 0
}
if [[ $funcstack[1] == _seine ]]; then _seine "$@"; else compdef _seine seine; fi
