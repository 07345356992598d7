import { randomBytes } from 'node:crypto'
import { sameBytes } from '../quorum-protocol/bytes.js'
import type { P256Signer } from '../quorum-protocol/p256.js'
import {
  acceptSession,
  bootMessage,
  type QuorumBoot,
  type ShareHolder,
} from '../quorum-protocol/quorum-session.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { Registry } from '../quorum-protocol/registry.js'
import {
  createOpener,
  type OpenedShares,
  openShares,
  POINT_BYTES,
  type ShareOpener,
  sessionIdOf,
} from '../quorum-protocol/sealed-shares.js'
import { x25519Pair } from '../quorum-protocol/x25519.js'

/** The sessions of this boot, only in memory: a restart ends all of them. */
export interface QuorumSessions {
  readonly boot: QuorumBoot
  /** @throws Refusal MALFORMED or UNAUTHENTIC */
  accept(offer: Uint8Array, registry: Registry, nowMs: number): void
  /**
   * @returns the shares, which the caller wipes, and from the identity provider the wallets' points
   * @throws Refusal NO_SESSION, MALFORMED, or UNAUTHENTIC when they are sealed for anything else
   */
  open(holder: ShareHolder, sealed: Uint8Array, ids: readonly Uint8Array[]): OpenedShares
}

/** The identity provider names the key of each share; the service has no say. */
const POINT_BYTES_FROM = { service: 0, user: POINT_BYTES } as const

/**
 * The bound of sessions per holder. Each worker thread of the service has its own, and a
 * reconnecting thread makes a new one while batches of its old one are in progress.
 */
const SESSIONS_PER_HOLDER_MAX = 256

export async function createQuorumSessions(signer: P256Signer): Promise<QuorumSessions> {
  const { privateKey, publicKey } = x25519Pair()
  const bootId = randomBytes(16)
  const signature = await signer.sign(bootMessage(bootId, publicKey))
  const boot: QuorumBoot = { boot: bootId, publicKey, signature }
  const openers: Record<ShareHolder, ShareOpener[]> = { service: [], user: [] }
  return {
    boot,
    accept(offer, registry, nowMs) {
      const { holder, session } = acceptSession(offer, boot, privateKey, registry, nowMs)
      const kept = openers[holder].filter((o) => !sameBytes(o.sessionId, session.sessionId))
      openers[holder] = [createOpener(session), ...kept].slice(0, SESSIONS_PER_HOLDER_MAX)
    },
    open(holder, sealed, ids) {
      const id = sessionIdOf(sealed)
      const opener = openers[holder].find((o) => sameBytes(o.sessionId, id))
      if (opener === undefined)
        throw new Refusal('NO_SESSION', `no session with the ${holder} side`)
      return openShares(opener, sealed, ids, POINT_BYTES_FROM[holder])
    },
  }
}
