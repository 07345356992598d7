import { join } from 'node:path'

export type DomainName = 'service' | 'user' | 'quorum'

/**
 * The paths of each domain's files below the home directory. Only the domain's own user can read
 * them.
 */
export interface DomainLayout {
  /** The domain's own keys, or the file that names their store. */
  readonly keys: string
  /** PEM (PKCS #8) of the domain's first P-256 key, when its keys are in files. */
  readonly signingKey: string
  /** 32 bytes that wrap the domain's data keys. */
  readonly wrappingKey: string
  /** PEM of the registry root's public key. */
  readonly rootKey: string
  /** LMDB directories. */
  readonly shares: string
  readonly sharesCopy: string
  readonly ledger: string
  readonly evidence: string
}

export function serviceLayout(home: string): DomainLayout {
  return domainLayout(join(home, 'service', 'custody'))
}

export function userSideLayout(home: string): DomainLayout {
  return domainLayout(join(home, 'identity-provider', 'vault'))
}

export function quorumLayout(home: string): Pick<DomainLayout, 'keys' | 'signingKey' | 'rootKey'> {
  return domainLayout(join(home, 'quorum-signer'))
}

function domainLayout(directory: string): DomainLayout {
  const keys = join(directory, 'keys')
  return {
    keys,
    signingKey: join(keys, 'signing.pem'),
    wrappingKey: join(keys, 'wrapping.key'),
    rootKey: join(keys, 'root.pub.pem'),
    shares: join(directory, 'shares'),
    sharesCopy: join(directory, 'shares-copy'),
    ledger: join(directory, 'ledger'),
    evidence: join(directory, 'evidence'),
  }
}

/** Private key of the registry root: dev keeps it here, live keeps it offline. */
export function rootPrivateKeyPath(home: string): string {
  return join(home, 'root', 'root.pem')
}

/** The signed registry; public. */
export function registryPath(home: string): string {
  return join(home, 'registry.json')
}

/** Dev only: replaces the user's passkey. In live mode no domain reads it. */
export function softwareAuthorizerPath(home: string): string {
  return join(home, 'identity-provider', 'vault', 'keys', 'software-authorizer.pem')
}

export function identityProviderSocket(home: string): string {
  return join(home, 'run', 'identity-provider.sock')
}

export function quorumSignerSocket(home: string): string {
  return join(home, 'run', 'quorum-signer.sock')
}
