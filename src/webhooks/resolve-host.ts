import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** Resolves the host names that users chose for webhooks. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

/** Two tries, the second with a longer wait, leave a delivery the time to connect. */
const TRY_MS = 1_200
const TRIES = 2

/**
 * Queries the machine's DNS servers itself. The system's `getaddrinfo` occupies a thread until it
 * gets an answer, and may use no more than two threads of the process: a few names with silent
 * servers would keep the process from finding its chains' nodes.
 * @param servers default: those that the machine has configured
 */
export function resolveByDns(servers?: readonly string[]): ResolveHost {
  return async (hostname) => {
    // Made for each query, because it reads the machine's configuration only once.
    const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES })
    if (servers !== undefined) resolver.setServers(servers)
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ])
    const addresses = [...found(v4, 4), ...found(v6, 6)]
    if (addresses.length > 0) return addresses
    throw new NotResolvedError(hostname, [v4, v6])
  }
}

/**
 * Resolves as the system does, including its hosts file: for receivers in an operator's own
 * network.
 */
export const resolveBySystem: ResolveHost = (hostname) =>
  lookup(hostname, { all: true, order: 'ipv4first' })

type Asked = PromiseSettledResult<readonly string[]>

function found(asked: Asked, family: 4 | 6): LookupAddress[] {
  return asked.status === 'fulfilled' ? asked.value.map((address) => ({ address, family })) : []
}

/** Uses the codes of `getaddrinfo`. */
class NotResolvedError extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN'

  constructor(hostname: string, asked: readonly Asked[]) {
    const reasons = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    super(`no address of ${hostname}`, { cause: reasons[0] })
    this.code = reasons.every(isAbsent) ? 'ENOTFOUND' : 'EAI_AGAIN'
  }
}

/** The name does not exist, or has no address of that family. */
function isAbsent({ code }: { readonly code?: unknown }): boolean {
  return code === 'ENOTFOUND' || code === 'ENODATA'
}
