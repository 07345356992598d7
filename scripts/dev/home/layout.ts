import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { ChainId } from '../../../src/domain/chains.js'

/** The paths of one development instance; all are absolute. */
export interface DevHome {
  readonly root: string
  /**
   * Sockets, the instance's lock, and children's pids, which mean nothing after the instance has
   * ended.
   */
  readonly run: string
  readonly logs: string
  /** Screening lists by people, one `*.txt` file each. */
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

/** Only the owner can read files and directories with secrets. */
export const PRIVATE_DIR_MODE = 0o700
export const PRIVATE_FILE_MODE = 0o600

const DEFAULT_HOME = '.countersign'
/** Proves to `npm run dev -- reset` that a directory is a development home. */
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

/** @throws HomeError when the path is too long */
export function requireSocketsFit(home: DevHome): void {
  const socketPath = join(home.run, LONGEST_SOCKET_NAME)
  if (Buffer.byteLength(socketPath) <= SOCKET_PATH_BYTES_MAX) return
  throw new HomeError(
    `COUNTERSIGN_HOME lies too deep for unix sockets: ${socketPath} is longer than ${SOCKET_PATH_BYTES_MAX} bytes`,
  )
}

/**
 * Creates what is missing.
 * @throws HomeError when the directory contains other files, or its path is too long
 */
export function prepareHome(home: DevHome): void {
  requireSocketsFit(home)
  mkdirSync(home.root, { recursive: true, mode: PRIVATE_DIR_MODE })
  if (!isDevHome(home)) {
    // People may create lists before the first start; other files are not ours.
    const strangers = readdirSync(home.root).filter((name) => name !== 'lists')
    if (strangers.length > 0) {
      throw new HomeError(
        `${home.root} is not empty and not a Countersign home (it holds ${strangers.slice(0, 3).join(', ')}); set COUNTERSIGN_HOME to another directory`,
      )
    }
    writeFileSync(markerPath(home), 'A Countersign development home. See npm run dev -- reset.\n', {
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
