import { createPublicKey } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type DomainName, registryPath } from '../../custody/domain-keys/layout.js'
import { writePublicFile } from '../../custody/domain-keys/private-file.js'
import {
  readRegistryFile,
  readRootKey,
  writeRegistryFile,
} from '../../custody/domain-keys/registry-file.js'
import { rawPublicKey } from '../../quorum-protocol/p256.js'
import {
  openRegistry,
  type Registry,
  type RegistryBody,
  type RegistryChain,
} from '../../quorum-protocol/registry.js'
import { DOMAIN_NAMES, domainLayout } from './provision-domain.js'
import { bodyOf, isPemOf, withoutKeys } from './registry-draft.js'

/**
 * Pins the root's public key in one domain. It is done once, by hand and from the medium on which
 * the key came: whoever could change it later could make the domain believe anything.
 * @throws Error when another root is pinned already
 */
export function pinRoot(home: string, domain: DomainName, publicKeyPath: string): void {
  const { rootKey } = domainLayout(home, domain)
  const pem = readFileSync(publicKeyPath)
  const offered = rawPublicKey(createPublicKey(pem))
  if (!existsSync(rootKey)) writePublicFile(rootKey, pem)
  else if (!isPemOf(readFileSync(rootKey), offered)) {
    throw new Error(`${rootKey} pins another root; a domain does not change its root`)
  }
}

/**
 * Puts a signed registry in place after checking it against the roots that the domains pinned.
 * Nothing is written when it does not pass. Running domains take it over within a second.
 * @param roots public keys, PEM; all must accept it
 * @throws Error that names the file and the reason
 */
export function installRegistry(home: string, from: string, roots: readonly string[]): Registry {
  const offered = verified(from, roots)
  const path = registryPath(home)
  if (existsSync(path)) {
    const present = verified(path, roots)
    if (offered.version < present.version) {
      throw new Error(
        `${from} is version ${offered.version}, older than the registry in place (${present.version})`,
      )
    }
    if (offered.version === present.version && !sameEnvelope(offered, present)) {
      throw new Error(`${from} is another registry with the version in place, ${present.version}`)
    }
    if (offered.environment !== present.environment) {
      throw new Error(`${from} is for ${offered.environment}, this home is ${present.environment}`)
    }
  }
  writeRegistryFile(path, offered.envelope)
  return offered
}

export interface DraftChanges {
  /** Ids of keys that end now, hex. */
  readonly ended: readonly string[]
  /** Routers, delegates and ceilings in place of those that it names; null: those. */
  readonly chains: readonly RegistryChain[] | null
}

/**
 * Writes the next registry down with all that the one in place says, for a person to change what is to be
 * changed, and for the root's owner to sign.
 * @param to a file that is not there
 * @param changes of the present one
 * @throws Error that names the file and the reason
 */
export function draftNext(
  home: string,
  to: string,
  roots: readonly string[],
  { ended, chains }: DraftChanges,
  nowMs: number,
): RegistryBody {
  const present = bodyOf(verified(registryPath(home), roots))
  const next = withoutKeys(present, ended, nowMs)
  const draft = chains === null ? next : { ...next, chains }
  writeFileSync(to, `${JSON.stringify(draft, null, 2)}\n`, { flag: 'wx' })
  return draft
}

/** @throws Error that names the file and the reason */
export function verified(path: string, roots: readonly string[]): Registry {
  if (roots.length === 0) throw new Error(`${path}: no root is pinned to check it against`)
  let registry: Registry | undefined
  for (const root of roots) {
    try {
      registry = openRegistry(readRegistryFile(path), readRootKey(root))
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new Error(`${path} against ${root}: ${reason}`, { cause })
    }
  }
  if (registry === undefined) throw new Error(`${path}: nothing to check it against`)
  return registry
}

function sameEnvelope(a: Registry, b: Registry): boolean {
  return Buffer.compare(Buffer.from(a.envelope.body), Buffer.from(b.envelope.body)) === 0
}

/** Of the domains that keep their files here. */
export function pinnedRoots(home: string): string[] {
  return DOMAIN_NAMES.map((domain) => domainLayout(home, domain).rootKey).filter(existsSync)
}
