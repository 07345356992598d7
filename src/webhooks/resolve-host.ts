import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** Where connections for webhooks look up the names that strangers chose. */
export type ResolveHost = (hostname: string) => Promise<readonly LookupAddress[]>

/** Two tries, of which the second waits for longer, leave a delivery the time to connect. */
const TRY_MS = 1_200
const TRIES = 2

/**
 * By questions of its own to the machine's DNS servers. The system's `getaddrinfo` holds a thread
 * for as long as nobody answers, and gets no more than two of them in all the process: a few names
 * whose servers are silent would keep it from finding its chains' nodes.
 * @param servers default: those that the machine names
 */
export function resolveByDns(servers?: readonly string[]): ResolveHost {
  return async (hostname) => {
    // Made anew, since it reads only once what the machine names.
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

/** As the system does it, its file of hosts and all: for receivers of an operator's own. */
export const resolveBySystem: ResolveHost = (hostname) =>
  lookup(hostname, { all: true, order: 'ipv4first' })

type Asked = PromiseSettledResult<readonly string[]>

function found(asked: Asked, family: 4 | 6): LookupAddress[] {
  return asked.status === 'fulfilled' ? asked.value.map((address) => ({ address, family })) : []
}

/** With the codes of `getaddrinfo`. */
class NotResolvedError extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN'

  constructor(hostname: string, asked: readonly Asked[]) {
    const reasons = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    super(`no address of ${hostname}`, { cause: reasons[0] })
    this.code = reasons.every(isAbsent) ? 'ENOTFOUND' : 'EAI_AGAIN'
  }
}

/** The name is not there, or has no address of that family. */
function isAbsent({ code }: { readonly code?: unknown }): boolean {
  return code === 'ENOTFOUND' || code === 'ENODATA'
}
