# bash completion for seine: source <(seine completion bash)
_seine() {
	local IFS=$'\n' word about first=1
	COMPREPLY=()
	while IFS=$'\t' read -r word about; do
		if [ -n "$first" ]; then
			first=
			# What bash itself knows best: names of files.
			[ "$word" = files ] && compopt -o default 2>/dev/null
		else
			COMPREPLY+=("$word")
		fi
	done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	# bash cuts words at = and replaces only what is after it.
	local cur=${COMP_WORDS[COMP_CWORD]} i
	if [ "$cur" = = ] || { [ "$COMP_CWORD" -gt 0 ] && [ "${COMP_WORDS[COMP_CWORD-1]}" = = ]; }; then
		for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#*=}; done
	fi
}
complete -F _seine seine
