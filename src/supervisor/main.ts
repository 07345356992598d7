import { type ChildProcess, fork } from 'node:child_process'
import { resolve } from 'node:path'
import { handOver, hasEnded, NotReplaced } from './hand-over.js'

/**
 * The parent of the wallet service, so that one process stays what the system watches while
 * services follow each other: SIGHUP puts a new one, of the package that is in place now, in the
 * place of the one that runs. It holds nothing and serves nothing. A service that ends unasked ends
 * this one too, with the same code: to start anew is the matter of whoever started it.
 */
// By the name it was started by, not by where that leads: an upgrade turns a symbolic link.
const service = resolve(process.argv[1] ?? '', '../../main.js')

const children = new Set<ChildProcess>()
let replacing = false
/** Asked for meanwhile: what is in place now may be newer than what the new one has read. */
let again = false
let stopping = false
let current = start([])

function start(args: readonly string[]): ChildProcess {
  const child = fork(service, [...args], { stdio: 'inherit' })
  children.add(child)
  child.on('error', (error) => {
    say(`the wallet service cannot be started: ${error.message}`)
    if (child.pid !== undefined) return
    children.delete(child)
    if (child === current && !replacing) process.exit(1)
  })
  child.on('exit', (code) => {
    children.delete(child)
    // One that is replaced ends because it was told to.
    if (stopping ? children.size === 0 : child === current && !replacing) {
      process.exit(code ?? (stopping ? 0 : 1))
    }
  })
  return child
}

async function replace(): Promise<void> {
  if (stopping) return
  if (replacing) {
    again = true
    return
  }
  replacing = true
  try {
    current = await handOver(current, start)
    say('a new wallet service has taken over')
  } catch (error) {
    // What was told to end meanwhile ends the process itself.
    if (stopping) return
    say(`the wallet service was not replaced. ${error instanceof Error ? error.message : error}`)
    if (!(error instanceof NotReplaced)) process.exit(1)
  }
  replacing = false
  if (hasEnded(current)) process.exit(current.exitCode ?? 1)
  if (!again) return
  again = false
  await replace()
}

function stop(): void {
  stopping = true
  for (const child of children) child.kill('SIGTERM')
}

function say(sentence: string): void {
  process.stderr.write(`countersign: ${sentence}\n`)
}

process.on('SIGHUP', () => void replace())
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
// Without a listener this signal opens Node's inspector.
process.on('SIGUSR1', () => {})
if (process.send !== undefined) {
  process.on('disconnect', stop)
  current.on('message', (message) => process.send?.(message))
}
