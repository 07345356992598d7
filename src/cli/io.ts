import { createInterface } from 'node:readline/promises'

/** What a command may touch of the world; tests pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  /** Progress and errors, so that what is on stdout can be piped. */
  readonly err: (text: string) => void
  /** True when a person reads: progress is shown. */
  readonly isInteractive: boolean
  /** Asks a person; absent where there is none. Anything but a yes is a no. */
  readonly confirm?: (question: string) => Promise<boolean>
  /** Asks a person for a line of text, without the spaces around it; absent like `confirm`. */
  readonly ask?: (question: string) => Promise<string>
}

async function confirm(question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(question))
}

async function ask(question: string): Promise<string> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await asking.question(question)).trim()
  } finally {
    asking.close()
  }
}

export function processIo(): Io {
  return {
    env: process.env,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isInteractive: process.stderr.isTTY === true,
    ...(process.stdin.isTTY === true && process.stderr.isTTY === true ? { confirm, ask } : {}),
  }
}
