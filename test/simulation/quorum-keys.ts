import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import type { ChainConfig } from '../../src/config/chains.js'
import type { ShareStore } from '../../src/custody/domain-keys/share-store.js'
import type { WalletRecord } from '../../src/custody/domain-keys/wallet-record.js'
import type { Address, SubWalletId } from '../../src/domain/ids.js'
import { ulidBytes } from '../../src/domain/ids.js'
import { addPoints, pointOf } from '../../src/quorum-protocol/curve.js'
import { p256SignerOf } from '../../src/quorum-protocol/p256.js'
import { type RegistryBody, registryMessage } from '../../src/quorum-protocol/registry.js'
import { holdRegistry, type RegistryHolder } from '../../src/quorum-protocol/registry-holder.js'
import { sha256 } from '../../src/quorum-protocol/tagged.js'
import { withRealCurves } from './curves/choice.js'
import { DELEGATE, ROUTER } from './swaps.js'

/** Keys of the three domains. No history depends on which they are, so that all worlds have these. */
const ROOT = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const pairs = {
  service: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  user: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  quorum: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
}

export const SIGNERS = {
  service: p256SignerOf(pairs.service.privateKey),
  user: p256SignerOf(pairs.user.privateKey),
  quorum: p256SignerOf(pairs.quorum.privateKey),
}

/** What the domains believe, as one of them holds it. */
export function registryFor(configs: readonly ChainConfig[]): RegistryHolder {
  const keysOf = (whose: keyof typeof SIGNERS) => [
    {
      public_key: SIGNERS[whose].publicKey.toString('hex'),
      ...{ not_before_ms: 0, not_after_ms: null },
    },
  ]
  const registry: RegistryBody = {
    ...{ version: 1, environment: 'dev', issued_at_ms: 0 },
    ...{ co_signers: keysOf('service'), approvers: keysOf('user') },
    quorum_signers: keysOf('quorum'),
    chains: configs.map(({ id, max_fee_per_gas_ceiling_wei }) => ({
      ...{ chain_id: id, router: ROUTER, delegate: DELEGATE },
      max_fee_per_gas_wei: max_fee_per_gas_ceiling_wei,
    })),
  }
  const text = JSON.stringify(registry)
  const held = REGISTRIES.get(text) ?? signedRegistry(text)
  REGISTRIES.set(text, held)
  return held
}

/** By their bodies: one never changes, and many worlds have the same. */
const REGISTRIES = new Map<string, RegistryHolder>()

function signedRegistry(text: string): RegistryHolder {
  const body = Buffer.from(text)
  const key = { key: ROOT.privateKey, dsaEncoding: 'ieee-p1363' as const }
  const signature = sign('sha256', registryMessage(body), key)
  return withRealCurves(() => holdRegistry(ROOT.publicKey, { body, signature }))
}

/** A key that signs, and of which account. */
export interface QuorumWallet {
  readonly walletId: SubWalletId
  /** Null: the service's own. */
  readonly userId: string | null
  readonly address: Address
}

type Side = 'service' | 'user'
type SimulatedShares = Pick<ShareStore, 'get' | 'requireShare' | 'openShareInto'>

const NOTHING = new Uint8Array(0)

/** Wallets whose two halves follow from their ids; addresses are not those of their keys. */
export class QuorumWallets {
  readonly #records = new Map<string, WalletRecord>()

  register({ walletId, userId, address }: QuorumWallet): void {
    const id = ulidBytes(walletId)
    const points = { service: pointOf(shareOf(id, 'service')), user: pointOf(shareOf(id, 'user')) }
    const ownerHash = sha256(Buffer.from(userId ?? ''))
    this.#records.set(nameOf(id), {
      certificate: {
        ...{ walletId: id, kind: userId === null ? 'service' : 'user', ownerHash, epoch: 0 },
        ...{ servicePoint: points.service, userPoint: points.user, transcript: NOTHING },
      },
      ...{ sealedShare: NOTHING, encodedCertificate: NOTHING, next: null },
      point: addPoints(points.service, points.user),
      address: Buffer.from(address.slice(2), 'hex'),
      proofs: { serviceSignature: NOTHING, userSignature: NOTHING, selfTest: NOTHING },
    })
  }

  sharesOf(side: Side): SimulatedShares {
    return {
      get: (walletId) => this.#records.get(nameOf(walletId)) ?? null,
      requireShare: () => undefined,
      openShareInto: ({ certificate: { walletId } }, target, at) =>
        target.set(shareOf(walletId, side), at),
    }
  }
}

function shareOf(walletId: Uint8Array, side: Side): Buffer {
  return createHash('sha256').update(side).update(walletId).digest()
}

function nameOf(id: Uint8Array): string {
  return Buffer.from(id).toString('hex')
}
