# completion.zsh MANUAL CASES: "number word" for what zsh proposes after each line, told by a shell on a pseudo terminal.
zmodload zsh/zpty
found=$(mktemp)
setup="
PS1=
fpath=(${(q)1} \$fpath)
autoload -Uz compinit && compinit -u -D
# Every match goes through compadd; with these options it is asked for an answer only.
compadd() {
    local -a matches
    if [[ \"\${@[1,(i)(-|--)]}\" != *-[OAD]\\ * ]]; then
        builtin compadd -O matches \"\$@\"
        print -l -- \$matches >> ${(q)found}
    fi
    builtin compadd \"\$@\"
}
propose() { : > ${(q)found}; zle list-choices }
zle -N propose
bindkey '^I' propose
# Told when keys are taken as keys; before that the terminal itself would make something of them.
zle-line-init() { print -n \"<line \$((++lines))>\" }
zle -N zle-line-init"
print -r -- $setup > $HOME/setup
zpty shell zsh -f -i
zpty -w shell "source $HOME/setup"
zpty -r -m shell text '*<line 1>*'

integer n=0
for case in ${(f)"$(<$2)"}; do
    ((++n))
    zpty -n -w shell "${case%%'|'*}"$'\t'
    zpty -w shell $'\C-u' # comes after the proposal, and a new line after it
    zpty -r -m shell text "*<line $((n + 1))>*"
    sed -n "s/..*/$n &/p" $found
done
zpty -d shell
rm -f $found
