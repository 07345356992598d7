import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ChainId } from '../../../src/domain/chains.js'

/** Where everything of one development instance lies. All paths are absolute. */
export interface DevHome {
  readonly root: string
  /** Sockets, the instance's lock, pids of children. Means nothing once the instance ended. */
  readonly run: string
  readonly logs: string
  /** Screening lists, one `*.txt` each, written by people. */
  readonly lists: string
  readonly chains: string
  readonly chainsFile: string
  readonly devFile: string
  readonly devUserFile: string
  /** Secrets of the API keys that the first start issued. */
  readonly devKeysFile: string
  readonly portsFile: string
  readonly deployerFile: string
}

/** Files and directories that hold secrets are the owner's alone. */
export const PRIVATE_DIR_MODE = 0o700
export const PRIVATE_FILE_MODE = 0o600

const DEFAULT_HOME = '.countersign'
/** Proves to `dev:reset` that a directory is one of ours. */
const MARKER = '.countersign-home'
/** `sockaddr_un` holds 104 bytes on macOS and 108 on Linux, the final zero included. */
const SOCKET_PATH_BYTES_MAX = 103
const LONGEST_SOCKET_NAME = 'identity-provider.sock'

export class HomeError extends Error {
  override readonly name = 'HomeError'
}

/** @param environment `COUNTERSIGN_HOME` names the directory; default `./.countersign` */
export function devHome(environment: NodeJS.ProcessEnv): DevHome {
  const root = resolve(environment.COUNTERSIGN_HOME ?? DEFAULT_HOME)
  return {
    root,
    run: join(root, 'run'),
    logs: join(root, 'logs'),
    lists: join(root, 'lists'),
    chains: join(root, 'chains'),
    chainsFile: join(root, 'chains.json'),
    devFile: join(root, 'dev.json'),
    devUserFile: join(root, 'dev-user.json'),
    devKeysFile: join(root, 'dev-keys.json'),
    portsFile: join(root, 'ports.json'),
    deployerFile: join(root, 'chains', 'deployer.json'),
  }
}

/** State of one chain's node. */
export function chainDir(home: DevHome, chainId: ChainId): string {
  return join(home.chains, String(chainId))
}

/** @throws HomeError when the directory lies too deep */
export function requireSocketsFit(home: DevHome): void {
  const socketPath = join(home.run, LONGEST_SOCKET_NAME)
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX) return
  throw new HomeError(
    `COUNTERSIGN_HOME lies too deep for unix sockets: ${socketPath} is longer than ${SOCKET_PATH_BYTES_MAX} bytes`,
  )
}

/**
 * Creates what is missing.
 * @throws HomeError when the directory holds somebody else's files, or lies too deep
 */
export function prepareHome(home: DevHome): void {
  requireSocketsFit(home)
  mkdirSync(home.root, { recursive: true, mode: PRIVATE_DIR_MODE })
  if (!isDevHome(home)) {
    // Lists may be laid down before the first start; anything else is not ours.
    const strangers = readdirSync(home.root).filter((name) => name !== 'lists')
    if (strangers.length > 0) {
      throw new HomeError(
        `${home.root} is not empty and not a Countersign home (it holds ${strangers.slice(0, 3).join(', ')}); set COUNTERSIGN_HOME to another directory`,
      )
    }
    writeFileSync(markerPath(home), 'A Countersign development home. See npm run dev:reset.\n', {
      mode: PRIVATE_FILE_MODE,
    })
  }
  for (const dir of [home.run, home.logs, home.lists, home.chains]) {
    mkdirSync(dir, { recursive: true, mode: PRIVATE_DIR_MODE })
  }
}

export function isDevHome(home: DevHome): boolean {
  return existsSync(markerPath(home))
}

function markerPath(home: DevHome): string {
  return join(home.root, MARKER)
}
