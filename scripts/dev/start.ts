import { NO_NATIVE_BUILD, usualAdapter } from '../../src/http/uws.js'
import { banner } from './banner.js'
import { explainError } from './explain-error.js'
import { devHome } from './home/layout.js'
import { type Instance, startInstance } from './instance.js'
import { ensureDevPackages, NOT_INSTALLED_EXIT } from './packages/offer-install.js'
import { shutdownStack } from './supervision/shutdown-stack.js'

/**
 * `npm start`: the whole service and its six chains on this machine, until Ctrl-C. Environment:
 * PORT (default 8080), COUNTERSIGN_HOME (default ./.countersign). `--install` installs what the chains
 * lack without asking.
 */
const DEFAULT_PORT = '8080'

const say = (line: string): void => {
  process.stdout.write(`countersign  ${line}\n`)
}
const complain = (error: unknown): void => {
  process.stderr.write(`countersign: ${explainError(error)}\n`)
}

// Its own files, and those of every process that it starts, are their user's alone.
process.umask(0o077)

const shutdown = shutdownStack()
let stopping = false
let instance: Instance | null = null

async function stop(exitCode: number): Promise<void> {
  if (stopping) return
  stopping = true
  await shutdown.close(complain)
  process.exit(exitCode)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping) return
    say(`stopping (${signal})`)
    void stop(0)
  })
}
// `countersign restart`; SIGHUP is a terminal that was closed.
process.on('SIGUSR2', () => {
  if (!stopping) void instance?.replaceService().catch(complain)
})
process.on('uncaughtException', (error) => {
  complain(error)
  void stop(1)
})
// The reader of our output went away (a closed pipe); what runs goes on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  const home = devHome(process.env)
  if (!(await ensureDevPackages(process.argv.includes('--install'), say))) {
    process.exit(NOT_INSTALLED_EXIT)
  }
  instance = await startInstance({ home, port: readPort(), shutdown, say })
  if (usualAdapter() === 'node:http') say(`${NO_NATIVE_BUILD}: node:http serves`)
  process.stdout.write(banner(instance.dev, home.root))
} catch (error) {
  // A start that was interrupted fails because its processes were stopped.
  if (!stopping) {
    complain(error)
    await stop(1)
  }
}

/** @throws Error unless PORT is a port one can listen on */
function readPort(): number {
  const text = process.env.PORT || DEFAULT_PORT
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) {
    throw new Error(`PORT must be a number from 1 to 65535, not ${text}`)
  }
  return port
}
