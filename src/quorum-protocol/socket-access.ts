import { chmodSync, chownSync, readFileSync } from 'node:fs'

/** The users that may connect to a domain's socket. */
export interface SocketAccess {
  /** The group whose members may connect besides the owner; null for the owner only. */
  readonly groupId: number | null
}

const OWNER_ALONE = 0o600
const WITH_GROUP = 0o660

/**
 * Reads `COUNTERSIGN_SOCKET_GROUP` of a domain's unit: the name or number of a group that the
 * domain shares only with the wallet service. Each socket has its own group, so that the identity
 * provider and the quorum signer cannot connect to each other.
 * @throws Error when there is no such group
 */
export function socketAccessOf(env: NodeJS.ProcessEnv): SocketAccess {
  const group = env.COUNTERSIGN_SOCKET_GROUP
  if (group === undefined || group === '') return { groupId: null }
  const groupId = /^\d{1,9}$/.test(group) ? Number(group) : groupIdOf(group)
  if (groupId === null) throw new Error(`COUNTERSIGN_SOCKET_GROUP: no group ${group}`)
  return { groupId }
}

/** Until this runs, only the owner can connect: new files are not writable for others. */
export function applySocketAccess(path: string, { groupId }: SocketAccess): void {
  if (groupId === null) {
    chmodSync(path, OWNER_ALONE)
    return
  }
  chownSync(path, process.getuid?.() ?? -1, groupId)
  chmodSync(path, WITH_GROUP)
}

/** Node has no getgrnam(3); the units' groups are local. */
function groupIdOf(name: string): number | null {
  for (const line of readFileSync('/etc/group', 'utf8').split('\n')) {
    const [found, , id] = line.split(':')
    if (found === name && id !== undefined) return Number(id)
  }
  return null
}
