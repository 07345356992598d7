import { Argument, type Command } from 'commander'
import type { Io } from '../io.js'

/** Prints shell completion of commands and options. */
export function register(program: Command, io: Io): void {
  program
    .command('completion')
    .description('print a completion script: eval "$(countersign completion bash)"')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action((shell: 'bash' | 'zsh' | 'fish') => {
      io.out(SCRIPTS[shell](wordsByCommand(program)))
    })
}

/**
 * The words that may follow each command path: `''` for the program itself, `'keys create'` and so
 * on.
 */
type Words = ReadonlyMap<string, readonly string[]>

function wordsByCommand(program: Command): Words {
  const words = new Map<string, readonly string[]>()
  const globals = program.options.map(({ long }) => long ?? '')
  const visit = (command: Command, path: readonly string[]) => {
    const names = command.commands.map((child) => child.name())
    const options = command === program ? [] : command.options.map(({ long }) => long ?? '')
    words.set(
      path.join(' '),
      [...names, ...options, ...globals].filter((word) => word !== ''),
    )
    for (const child of command.commands) visit(child, [...path, child.name()])
  }
  visit(program, [])
  return words
}

function cases(words: Words, variable: string): string {
  return [...words]
    .map(
      ([path, next]) =>
        `    ${JSON.stringify(path)}) ${variable}=${JSON.stringify(next.join(' '))} ;;`,
    )
    .join('\n')
}

const SCRIPTS = {
  bash: (words: Words) => `_countersign() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || path="\${path:+$path }$word"
  done
  case "$path" in
${cases(words, 'words')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _countersign countersign
`,
  zsh: (words: Words) => `#compdef countersign
_countersign() {
  local path_="" word next=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || path_="\${path_:+$path_ }$word"
  done
  case "$path_" in
${cases(words, 'next')}
  esac
  compadd -- \${=next}
}
compdef _countersign countersign
`,
  fish: (words: Words) =>
    [...words]
      .flatMap(([path, next]) =>
        next.map((word) => {
          const seen =
            path === '' ? '' : ` -n "__fish_seen_subcommand_from ${path.split(' ').at(-1)}"`
          const top = path === '' && !word.startsWith('-') ? ' -n __fish_use_subcommand' : ''
          return word.startsWith('--')
            ? `complete -c countersign${seen} -l ${word.slice(2)}`
            : `complete -c countersign -f${seen}${top} -a ${word}`
        }),
      )
      .join('\n')
      .concat('\n'),
} as const
