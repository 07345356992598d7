import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAuthority } from '../certificates.js'
import { type DevHome, PRIVATE_DIR_MODE } from '../home/layout.js'

/** Longer than anyone keeps a trial instance. */
const DAYS = 3_650
const OWNER_ALONE = 0o600

/**
 * Makes the files of the links between this machine's nodes, with their own authority. They are
 * made again at each start, because ports may change.
 * @param ports the links' ports, one per node
 * @returns null when this machine has no `openssl` for certificates
 */
export function makeNodeLinks(home: DevHome, ports: readonly number[]): readonly string[] | null {
  if (!hasOpenssl()) return null
  const directory = join(home.root, 'nodes', 'links')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  const authority = makeAuthority(directory, 'authority', DAYS)
  return ports.map((port, index) => {
    const name = `node-${index + 1}`
    const issued = authority.issue(name, {
      ...{ usage: 'serverAuth,clientAuth', names: 'IP:127.0.0.1', days: DAYS },
    })
    chmodSync(issued.key, OWNER_ALONE)
    const path = join(directory, `${name}.json`)
    const link = { listen: `127.0.0.1:${port}`, ...issued, authority: authority.certificate }
    writeFileSync(path, `${JSON.stringify(link)}\n`, { mode: OWNER_ALONE })
    return path
  })
}

export interface IdentityLinks {
  /** The files of the two identity providers. */
  readonly listeners: readonly [string, string]
  /** The file with which each wallet service reaches whichever of them serves. */
  readonly service: string
}

/**
 * The same for the two identity providers of this machine and their clients.
 * @param ports the ports of the two
 * @returns null as above
 */
export function makeIdentityLinks(
  home: DevHome,
  ports: readonly [number, number],
): IdentityLinks | null {
  if (!hasOpenssl()) return null
  const directory = join(home.root, 'nodes', 'identity-links')
  rmSync(directory, { recursive: true, force: true })
  mkdirSync(directory, { recursive: true, mode: PRIVATE_DIR_MODE })
  const authority = makeAuthority(directory, 'authority', DAYS)
  const file = (name: string, usage: 'serverAuth' | 'clientAuth', content: object): string => {
    const names = usage === 'serverAuth' ? { names: `DNS:${SERVER_NAME}` } : {}
    const issued = authority.issue(name, { usage, days: DAYS, ...names })
    chmodSync(issued.key, OWNER_ALONE)
    const path = join(directory, `${name}.json`)
    const link = { ...content, ...issued, authority: authority.certificate }
    writeFileSync(path, `${JSON.stringify(link)}\n`, { mode: OWNER_ALONE })
    return path
  }
  const [first, second] = ports.map((port) => `127.0.0.1:${port}`)
  return {
    listeners: [
      file('identity-1', 'serverAuth', { listen: first }),
      file('identity-2', 'serverAuth', { listen: second }),
    ],
    service: file('service', 'clientAuth', {
      ...{ address: first, others: [second], server_name: SERVER_NAME },
    }),
  }
}

const SERVER_NAME = 'identity'

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
