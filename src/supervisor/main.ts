import { type ChildProcess, fork } from 'node:child_process'
import { resolve } from 'node:path'
import { handOver, hasEnded, NotReplaced } from './hand-over.js'

/**
 * The parent of the wallet service, which stays one process for the system while services replace
 * each other: SIGHUP replaces the running service with a new one of the installed package. It holds
 * nothing and serves nothing. When a service ends unexpectedly, this process ends with the same
 * code: restarting is up to whatever started it.
 */
// Uses the name it was started by and not the link's target: an upgrade changes a symbolic link.
const service = resolve(process.argv[1] ?? '', '../../main.js')

const children = new Set<ChildProcess>()
let replacing = false
/**
 * Set when a further replacement was requested in the meantime: the installed package may be newer
 * than what the new service has loaded.
 */
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
    // A replaced service ends because it was told to.
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
    // When the supervisor was told to end in the meantime, the end of its children ends it.
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
