import { chmodSync, chownSync, readFileSync } from 'node:fs'

/** Who may connect to a domain's socket. */
export interface SocketAccess {
  /** Group whose members may connect besides the owner; null: the owner alone. */
  readonly groupId: number | null
}

const OWNER_ALONE = 0o600
const WITH_GROUP = 0o660

/**
 * `COUNTERSIGN_SOCKET_GROUP` of a domain's unit: name or number of the group that only the wallet
 * service shares with it. A socket has a group of its own, so that the identity provider and the
 * quorum signer cannot reach each other.
 * @throws Error when there is no such group
 */
export function socketAccessOf(env: NodeJS.ProcessEnv): SocketAccess {
  const group = env.COUNTERSIGN_SOCKET_GROUP
  if (group === undefined || group === '') return { groupId: null }
  const groupId = /^\d{1,9}$/.test(group) ? Number(group) : groupIdOf(group)
  if (groupId === null) throw new Error(`COUNTERSIGN_SOCKET_GROUP: no group ${group}`)
  return { groupId }
}

/** Until it runs the socket is its owner's alone: files are made without write for others. */
export function applySocketAccess(path: string, { groupId }: SocketAccess): void {
  if (groupId === null) {
    chmodSync(path, OWNER_ALONE)
    return
  }
  chownSync(path, process.getuid?.() ?? -1, groupId)
  chmodSync(path, WITH_GROUP)
}

/** Node has no getgrnam(3); the groups of the units are local ones. */
function groupIdOf(name: string): number | null {
  for (const line of readFileSync('/etc/group', 'utf8').split('\n')) {
    const [found, , id] = line.split(':')
    if (found === name && id !== undefined) return Number(id)
  }
  return null
}
