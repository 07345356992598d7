import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DevHome } from './home/layout.js'
import type { Backoff } from './supervision/backoff.js'
import {
  type ProcessObserver,
  type ProcessSpec,
  type SupervisedProcess,
  superviseProcess,
} from './supervision/supervised-process.js'

/** The three processes of the service, one trust domain each. */
export interface ServiceOptions {
  readonly home: Pick<DevHome, 'root' | 'logs'>
  readonly observer: ProcessObserver
  /** Added to this process's own environment at each start; never a secret. */
  readonly env: () => Readonly<Record<string, string>>
  /** Set in a cluster, where there are several such processes. */
  readonly node?: NodeOptions
}

export interface NodeOptions {
  /** Counts from 1. */
  readonly number: number
  readonly backoff: Backoff
}

const READY_TIMEOUT_MS = 60_000
/** The service finishes its work within 20 s; the others have little to write. */
const STOP_TIMEOUT_MS = 25_000

export function quorumSigner(options: ServiceOptions): SupervisedProcess {
  return nodeProcess('quorum signer', 'quorum-signer', 'quorum-signer/main', options)
}

/** @param awaitReady as for a wallet service */
export function identityProvider(
  options: ServiceOptions,
  awaitReady?: ProcessSpec['awaitReady'],
): SupervisedProcess {
  const entry = 'identity-provider/main'
  return nodeProcess('identity provider', 'identity-provider', entry, options, awaitReady)
}

/** @param awaitReady for a possible standby, which reports ready only once it leads */
export function walletService(
  options: ServiceOptions,
  awaitReady?: ProcessSpec['awaitReady'],
): SupervisedProcess {
  return nodeProcess('wallet service', 'service', 'main', options, awaitReady)
}

function nodeProcess(
  name: string,
  logName: string,
  entry: string,
  { home, observer, env, node }: ServiceOptions,
  awaitReady?: ProcessSpec['awaitReady'],
): SupervisedProcess {
  const path = fileURLToPath(new URL(`../../src/${entry}.js`, import.meta.url))
  return superviseProcess(
    {
      name: node === undefined ? name : `${name} ${node.number}`,
      channel: 'ipc',
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopTimeoutMs: STOP_TIMEOUT_MS,
      logPath: join(home.logs, `${logName}.log`),
      ...(awaitReady === undefined ? {} : { awaitReady }),
      ...(node === undefined ? {} : { backoff: node.backoff }),
      launch: async () => ({
        command: process.execPath,
        args: ['--enable-source-maps', path],
        env: {
          ...process.env,
          COUNTERSIGN_HOME: home.root,
          COUNTERSIGN_MODE: 'dev',
          ...env(),
        },
      }),
    },
    observer,
  )
}
