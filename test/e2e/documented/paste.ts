import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** What documents show, pasted into a shell as a reader does it. */

const run = promisify(execFile)

export interface Pasted {
  /** HTTP status of each curl of the text, in order. */
  readonly statuses: readonly number[]
  /** The JSON object that the last one printed; else its text. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Adds nothing to a command but a report of its status, beside what it prints. */
const REPORTING_CURL = `curl() { command curl -sS -w '%{stderr}%{http_code}\\n' "$@"; }`

export async function paste(text: string, env: Readonly<Record<string, string>>): Promise<Pasted> {
  // Bash reads the files of an interactive shell where its input is a socket, as Node's pipes are.
  const { stdout, stderr } = await run('bash', ['--norc', '-c', `${REPORTING_CURL}\n${text}`], {
    env: { PATH: process.env.PATH ?? '', ...env },
  })
  const last = stdout.slice(stdout.lastIndexOf('\n{') + 1).trim()
  return {
    statuses: [...stderr.matchAll(/^\d{3}$/gm)].map(([status]) => Number(status)),
    body: last.startsWith('{') ? JSON.parse(last.slice(lastObjectAt(last))) : { text: stdout },
  }
}

/** Answers have no newline between them: the last object begins where the rest is one. */
function lastObjectAt(text: string): number {
  for (let at = text.lastIndexOf('}{') + 1; at > 0; at = text.lastIndexOf('}{', at - 2) + 1) {
    if (isJson(text.slice(at))) return at
  }
  return 0
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Commands of a block that shows a prompt, each with the lines it goes on for. */
export function promptedCommands(block: string): readonly string[] {
  const commands: string[] = []
  let isOpen = false
  for (const line of block.split('\n')) {
    if (line.startsWith('$ ')) commands.push(line.slice(2))
    else if (isOpen) commands.push(`${commands.pop()}\n${line}`)
    const current = commands.at(-1) ?? ''
    const quotes = current.split("'").length - 1
    isOpen = current.endsWith('\\') || quotes % 2 === 1
  }
  return commands
}
