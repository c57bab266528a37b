# fish completion for seine: seine completion fish | source
function __seine_complete
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
    test (count $lines) -gt 1; and printf '%s\n' $lines[2..-1]
    test "$lines[1]" = files; and __fish_complete_path (commandline -ct)
    true
end
complete -c seine -f -a '(__seine_complete)'
