// `depot completion`: completes commands and options in bash, zsh and fish. Made from the table of commands.
import { readArguments, UsageError } from '#cli/kit/arguments.ts'
import type { Command, Run } from '#cli/kit/command.ts'

const SHELLS = { bash, zsh, fish } as const

type Commands = readonly Command[]

/** Returns the command for the table of commands. */
export const completionCommand =
  (commands: Commands): Run =>
  async (args) => {
    const [shell = ''] = readArguments(args, {}, 1).words
    const script = Object.entries(SHELLS).find(([name]) => name === shell)?.[1]
    if (script === undefined) throw new UsageError(`The shell must be one of ${Object.keys(SHELLS).join(', ')}`)
    process.stdout.write(script(commands))
  }

/** Returns the options of a command, each once. */
const optionsOf = ({ usage = '', options = [] }: Command): string[] => {
  const texts = [usage, ...options.map(([option]) => option)]
  return [...new Set(texts.flatMap((text) => text.match(/--[a-z-]+/g) ?? [])), '--help', '--env-file']
}

/** The words that can follow the given first words, without options. */
function wordsAfter(commands: Commands, first: string): string[] {
  const names = commands.map(({ name }) => name.split(' '))
  const found = names.flatMap(([word = '', next]) =>
    first === '' ? word : word === first && next !== undefined ? next : [],
  )
  return [...new Set(first === '' ? [...found, 'help'] : found)]
}

const groupsOf = (commands: Commands): string[] =>
  [...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? name.split(' ')[0] : [])))] as string[]

function bash(commands: Commands): string {
  const cases = [
    ...groupsOf(commands).map((group) => `    ${group}) words='${wordsAfter(commands, group).join(' ')}' ;;`),
    ...commands.map((command) => `    '${command.name}') words='${optionsOf(command).join(' ')}' ;;`),
  ]
  return `# Completion of depot for bash: depot completion bash > /etc/bash_completion.d/depot
_depot() {
  local current=\${COMP_WORDS[COMP_CWORD]} first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]} words=
  if [ "$COMP_CWORD" = 1 ]; then words='${wordsAfter(commands, '').join(' ')} --help --version'
  else
    local name=$first
    case " ${groupsOf(commands).join(' ')} " in *" $first "*) [ "$COMP_CWORD" -gt 2 ] && name="$first $second" ;; esac
    case $name in
${cases.join('\n')}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default
}
complete -F _depot depot
`
}

const quoted = (text: string): string => text.replaceAll("'", "'\\''")

function zsh(commands: Commands): string {
  const list = (first: string): string[] => {
    const described = commands.map(({ name, about }) => ({ words: name.split(' '), about }))
    const own = described.filter(({ words }) =>
      first === '' ? words.length === 1 : words[0] === first && words.length > 1,
    )
    const shown = own.map(({ words, about }) => `'${words.at(-1)}:${quoted(about.replaceAll(':', '\\:'))}'`)
    return first === '' ? [...shown, ...groupsOf(commands).map((group) => `'${group}:Commands of this group'`)] : shown
  }
  const nested = groupsOf(commands).map((group) => `    ${group}) entries=(${list(group).join(' ')}) ;;`)
  const options = commands.map((command) => `    '${command.name}') options=(${optionsOf(command).join(' ')}) ;;`)
  return `#compdef depot
# Completion of depot for zsh: depot completion zsh > /usr/share/zsh/site-functions/_depot
local -a entries options
if (( CURRENT == 2 )); then
  entries=(${list('').join(' ')})
  _describe command entries
  return
fi
local name=$words[2]
if (( CURRENT == 3 )); then
  case $name in
${nested.join('\n')}
  esac
  (( $#entries )) && { _describe command entries; return }
fi
case $name in
  ${groupsOf(commands).join('|')}) name="$words[2] $words[3]" ;;
esac
case $name in
${options.join('\n')}
esac
compadd -- $options
_files
`
}

function fish(commands: Commands): string {
  const lines = commands.flatMap((command) => {
    const { name, about } = command
    const [first = '', second] = name.split(' ')
    const at =
      second === undefined
        ? '__fish_use_subcommand'
        : `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${wordsAfter(commands, first).join(' ')}`
    const seen = `__fish_seen_subcommand_from ${first}${second === undefined ? '' : `; and __fish_seen_subcommand_from ${second}`}`
    return [
      `complete -c depot -n '${at}' -a ${second ?? first} -d '${quoted(about)}'`,
      ...optionsOf(command).map((option) => `complete -c depot -n '${seen}' -l ${option.slice(2)}`),
    ]
  })
  const first = groupsOf(commands).map(
    (group) => `complete -c depot -n __fish_use_subcommand -a ${group} -d 'Commands of this group'`,
  )
  return `# Completion of depot for fish: depot completion fish > /usr/share/fish/vendor_completions.d/depot.fish
complete -c depot -n __fish_use_subcommand -f
${[...first, ...lines].join('\n')}
`
}
