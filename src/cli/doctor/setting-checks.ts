import { LOOPBACK_PROXIES, TRUSTED_PROXIES_VARIABLE } from '../../config/trusted-proxies.js'
import { type Reader, VARIABLES } from '../../config/variables.js'
import type { Environment, Environments } from './environments.js'
import { concern, type Finding, fine } from './finding.js'

/**
 * Finds variables that look like this project's but that no process reads: nothing else reports a
 * typing mistake.
 */

const OURS = /^(COUNTERSIGN|IDENTITY|CONSOLE|METRICS)_/
const FILES: readonly (readonly [keyof Environments, string, Reader])[] = [
  ['service', 'service.env', 'service'],
  ['identityProvider', 'identity-provider.env', 'identity provider'],
  ['quorumSigner', 'quorum-signer.env', 'quorum signer'],
]

/**
 * @param isShared true when all domains share one environment, where a name that any of them reads
 * counts
 */
export function settingChecks(environments: Environments, isShared: boolean): readonly Finding[] {
  const subject = 'settings'
  const strange = isShared
    ? unread(environments.service, null)
    : FILES.flatMap(([domain, file, reader]) =>
        unread(environments[domain], reader).map((name) => `${name} in ${file}`),
      )
  const names =
    strange.length === 0
      ? [fine(subject, 'every name is read')]
      : strange.map((name) =>
          concern(subject, `nobody reads ${name}`, 'look its name up in OPERATIONS.md'),
        )
  return [...names, ...proxyCheck(environments.service)]
}

/** A service with a public name has a proxy in front, because it does not speak TLS. */
function proxyCheck(service: Environment): readonly Finding[] {
  const isNamed = (name: string) => (service[name] ?? '') !== ''
  if (!isNamed('COUNTERSIGN_PUBLIC_HOSTS') || isNamed(TRUSTED_PROXIES_VARIABLE)) return []
  return [
    concern(
      'proxy',
      'the service trusts no proxy, so all callers behind one share its limits per address',
      `${TRUSTED_PROXIES_VARIABLE}=${LOOPBACK_PROXIES} if the proxy is on this machine`,
    ),
  ]
}

function unread(environment: Environment, reader: Reader | null): string[] {
  const isRead = (name: string) =>
    VARIABLES.some(
      (known) => known.name === name && (reader === null || known.readers.includes(reader)),
    )
  return Object.keys(environment).filter((name) => OURS.test(name) && !isRead(name))
}
