/**
 * A command with a name as its first argument, such as `npm run bench -- write`: it becomes the
 * program of that name, in this process, which gets the other arguments.
 */
export interface Programs {
  /** As it is typed, before a name: `npm run bench --`. */
  readonly command: string
  /** By name. */
  readonly does: Readonly<Record<string, string>>
  /** The program of a call without a name; null where a name is required. */
  readonly usual: string | null
}

export type Choice =
  | { readonly kind: 'program'; readonly name: string; readonly args: readonly string[] }
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'refused'; readonly problem: string }

/** Exit code of a call with bad arguments, as in shells and getopt(3). */
const EXIT_USAGE = 2

/** @param load imports the program, which reads `process.argv` */
export async function becomeProgram(
  programs: Programs,
  load: (name: string) => Promise<unknown>,
): Promise<void> {
  const [node = '', script = '', ...given] = process.argv
  const choice = chooseProgram(programs, given)
  if (choice.kind === 'help') {
    console.log(choice.text)
  } else if (choice.kind === 'refused') {
    console.error(choice.problem)
    process.exitCode = EXIT_USAGE
  } else {
    process.argv = [node, script, ...choice.args]
    await load(choice.name)
  }
}

export function chooseProgram(programs: Programs, given: readonly string[]): Choice {
  const { command, does, usual } = programs
  const [first, ...rest] = given
  if (first === '--help') return { kind: 'help', text: helpText(programs) }
  const names = Object.keys(does).join(', ')
  if (first === undefined || first.startsWith('-')) {
    return usual === null
      ? { kind: 'refused', problem: `${command} needs a name: ${names}` }
      : { kind: 'program', name: usual, args: given }
  }
  return Object.hasOwn(does, first)
    ? { kind: 'program', name: first, args: rest }
    : { kind: 'refused', problem: `${command} has no ${first}: there are ${names}` }
}

function helpText({ command, does, usual }: Programs): string {
  const width = Math.max(...Object.keys(does).map((name) => name.length))
  const rows = Object.entries(does).map(([name, text]) => `  ${name.padEnd(width)}   ${text}`)
  const without = usual === null ? [] : [`${usual} runs without a name. `]
  return [
    `${command} NAME [options]`,
    '',
    ...rows,
    '',
    `${without.join('')}Each has its options: ${command} NAME --help`,
  ].join('\n')
}
