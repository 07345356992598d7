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
import { openRegistry, type Registry, type RegistryBody } from '../../quorum-protocol/registry.js'
import { DOMAIN_NAMES, domainLayout } from './provision-domain.js'
import { bodyOf, isPemOf, registryChains, withoutKeys } from './registry-draft.js'

/**
 * Pins the root's public key in one domain. Do it once, by hand, from the medium that the key came
 * on: an attacker who could change the pin could make the domain trust anything.
 * @throws Error when another root is already pinned
 */
export function pinRoot(home: string, domain: DomainName, publicKeyPath: string): void {
  const { rootKey } = domainLayout(home, domain)
  const pem = readFileSync(publicKeyPath)
  const offered = rawPublicKey(createPublicKey(pem))
  if (!existsSync(rootKey)) writePublicFile(rootKey, pem)
  else if (!isPemOf(readFileSync(rootKey), offered)) {
    throw new Error(`${rootKey} pins another root; a domain cannot change its root`)
  }
}

/**
 * Installs a signed registry after checking it against the roots that the domains pinned. A
 * registry that fails is not written. Running domains load it within a second.
 * @param roots public keys in PEM; all must accept it
 * @throws Error that names the file and the reason
 */
export function installRegistry(home: string, from: string, roots: readonly string[]): Registry {
  const offered = verified(from, roots)
  const path = registryPath(home)
  if (existsSync(path)) {
    const present = verified(path, roots)
    if (offered.version < present.version) {
      throw new Error(
        `${from} is version ${offered.version}, older than the installed registry (${present.version})`,
      )
    }
    if (offered.version === present.version && !sameEnvelope(offered, present)) {
      throw new Error(
        `${from} differs from the installed registry, but has the same version ${present.version}`,
      )
    }
    if (offered.environment !== present.environment) {
      throw new Error(`${from} is for ${offered.environment}, this home is ${present.environment}`)
    }
  }
  writeRegistryFile(path, offered.envelope)
  return offered
}

interface DraftChanges {
  /** Ids of the keys that end now, in hex. */
  readonly ended: readonly string[]
  /**
   * A `chains.json` whose Routers, delegates, ceilings and tokens replace the registry's; null
   * keeps them.
   */
  readonly chains: string | null
}

/**
 * Writes a draft of the next registry with everything that the present one contains, for a person
 * to edit and the root's owner to sign.
 * @param to a file that does not exist
 * @param changes changes of the present registry
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
  const draft =
    chains === null ? next : { ...next, chains: registryChains(chains, next.environment) }
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
  if (registry === undefined) throw new Error(`${path}: no root to check it against`)
  return registry
}

function sameEnvelope(a: Registry, b: Registry): boolean {
  return Buffer.compare(Buffer.from(a.envelope.body), Buffer.from(b.envelope.body)) === 0
}

/** Returns the pins of the domains that keep their files here. */
export function pinnedRoots(home: string): string[] {
  return DOMAIN_NAMES.map((domain) => domainLayout(home, domain).rootKey).filter(existsSync)
}
