import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DevHome } from './home/layout.js'
import {
  type ProcessObserver,
  type SupervisedProcess,
  superviseProcess,
} from './supervision/supervised-process.js'

/** The three processes of the service: one trust domain each. */
export interface ServiceOptions {
  readonly home: DevHome
  readonly observer: ProcessObserver
  /** Added to this process's own environment; never a secret. */
  readonly env: Readonly<Record<string, string>>
}

const READY_TIMEOUT_MS = 60_000
/** The service drains what it has begun, for 20 s at most; the others have little to put away. */
const STOP_TIMEOUT_MS = 25_000

export function quorumSigner(options: ServiceOptions): SupervisedProcess {
  return nodeProcess('quorum signer', 'quorum-signer', 'quorum-signer/main', options)
}

export function identityProvider(options: ServiceOptions): SupervisedProcess {
  return nodeProcess('identity provider', 'identity-provider', 'identity-provider/main', options)
}

export function walletService(options: ServiceOptions): SupervisedProcess {
  return nodeProcess('wallet service', 'service', 'main', options)
}

function nodeProcess(
  name: string,
  logName: string,
  entry: string,
  { home, observer, env }: ServiceOptions,
): SupervisedProcess {
  const path = fileURLToPath(new URL(`../../src/${entry}.js`, import.meta.url))
  return superviseProcess(
    {
      name,
      channel: 'ipc',
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: join(home.logs, `${logName}.log`),
      launch: async () => ({
        command: process.execPath,
        args: ['--enable-source-maps', path],
        env: { ...process.env, COUNTERSIGN_HOME: home.root, COUNTERSIGN_MODE: 'dev', ...env },
      }),
    },
    observer,
  )
}
