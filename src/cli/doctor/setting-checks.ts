import { LOOPBACK_PROXIES, TRUSTED_PROXIES_VARIABLE } from '../../config/trusted-proxies.js'
import { type Reader, VARIABLES } from '../../config/variables.js'
import type { Environment, Environments } from './environments.js'
import { concern, type Finding, fine } from './finding.js'

/** Names in the environments that look like ours and that nobody reads there: a slip says nothing else. */

const OURS = /^(COUNTERSIGN|IDENTITY|CONSOLE|METRICS)_/
const FILES: readonly (readonly [keyof Environments, string, Reader])[] = [
  ['service', 'service.env', 'service'],
  ['identityProvider', 'identity-provider.env', 'identity provider'],
  ['quorumSigner', 'quorum-signer.env', 'quorum signer'],
]

/** @param isShared one environment is everybody's: a name counts when anybody reads it */
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

/** A service with names of its own in public has a proxy in front, since it speaks no TLS. */
function proxyCheck(service: Environment): readonly Finding[] {
  const isNamed = (name: string) => (service[name] ?? '') !== ''
  if (!isNamed('COUNTERSIGN_PUBLIC_HOSTS') || isNamed(TRUSTED_PROXIES_VARIABLE)) return []
  return [
    concern(
      'proxy',
      'the service believes no proxy, so that all who come through one share its limits by address',
      `${TRUSTED_PROXIES_VARIABLE}=${LOOPBACK_PROXIES} where the proxy is on this machine`,
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
