import { LRUCache } from 'lru-cache'
import type { WalletRecord } from '../../custody/domain-keys/wallet-record.js'
import { encodeWalletEvidence } from '../../custody/evidence/evidence-records.js'
import { EVIDENCE_KIND } from '../../custody/evidence/stored-evidence.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { addInto, isSignedBy, randomScalar } from '../../quorum-protocol/curve.js'
import {
  certificateMessage,
  selfTestDigest,
  selfTestRequest,
} from '../../quorum-protocol/keygen.js'
import type { FieldsOf, ResultsOf } from '../../quorum-protocol/methods/method.js'
import type { WALLETS } from '../../quorum-protocol/methods/wallets.js'
import { verifyP256 } from '../../quorum-protocol/p256.js'
import {
  refreshCommitment,
  refreshDelta,
  refreshedCertificate,
} from '../../quorum-protocol/refresh.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import { requireWalletOf } from './own-cell.js'
import type { KeygenContext } from './wallet-keygen.js'

/** The identity provider's side of a refresh; `src/custody/README.md` has the sequence. */
export interface ShareRefresh {
  /**
   * Begins a refresh. An unfinished one of the same wallet becomes void: the service keeps only one
   * next share.
   */
  begin(fields: Fields['refresh-begin'], context: KeygenContext): Results['refresh-begin']
  prepare(
    fields: Fields['refresh-prepare'],
    context: KeygenContext,
  ): Promise<Results['refresh-prepare']>
  certify(
    fields: Fields['refresh-certify'],
    context: KeygenContext,
  ): Promise<Results['refresh-certify']>
}

type Fields = FieldsOf<typeof WALLETS>
type Results = ResultsOf<typeof WALLETS>

interface Refresh {
  readonly walletId: Uint8Array
  readonly epoch: number
  readonly commitment: Uint8Array
  /** 32 bytes, wiped when the refresh is prepared or dropped. */
  readonly part: Buffer
}

/** The bound of unfinished refreshes; the oldest is dropped for a new one. */
const REFRESHES_MAX = 256
const REFRESH_LIFE_MS = 60_000

export function createShareRefresh(): ShareRefresh {
  const open = new LRUCache<string, Refresh>({
    max: REFRESHES_MAX,
    ttl: REFRESH_LIFE_MS,
    dispose: (refresh) => refresh.part.fill(0),
  })

  return {
    begin({ sessionId, ...begun }, context) {
      const name = nameOf(sessionId)
      if (open.has(name)) throw new Refusal('REPLAYED', 'refresh session')
      const refresh = { ...begun, part: randomScalar() }
      const { kind } = activeRecord(refresh, context).certificate
      requireWalletOf(context.cell, refresh.walletId, kind)
      for (const [other, { walletId }] of [...open]) {
        if (sameBytes(walletId, refresh.walletId)) open.delete(other)
      }
      context.shares.dropWaiting(refresh.walletId)
      open.set(name, refresh)
      return { part: Buffer.from(refresh.part) }
    },

    async prepare({ sessionId, ...reveal }, context) {
      const name = nameOf(sessionId)
      const refresh = open.get(name)
      if (refresh === undefined) throw new Refusal('CONFLICT', 'no such refresh')
      const { shares, signer, sealer } = context
      if (sealer === null) throw new Refusal('NO_SESSION', 'quorum signer')
      if (!sameBytes(refreshCommitment(reveal, sessionId), refresh.commitment)) {
        throw new Refusal('UNAUTHENTIC', 'reveal does not match its commitment')
      }
      const record = activeRecord(refresh, context)
      const delta = refreshDelta(reveal.part, refresh.part)
      open.delete(name)
      const share = shares.openShare(record)
      try {
        const { encoded } = refreshedCertificate(record.certificate, delta, sessionId)
        addInto(share, delta)
        shares.putNext(encoded, share)
        const sealed = sealer.seal(share, [selfTestDigest(encoded)], [record.point])
        const request = await signer.sign(selfTestRequest(encoded, sealer.boot))
        return { request, share: sealed, boot: sealer.boot }
      } finally {
        share.fill(0)
        delta.fill(0)
      }
    },

    async certify({ walletId, certificate, serviceSignature, selfTest }, context) {
      const { registry, shares, signer, evidence } = context
      const record = shares.get(walletId)
      if (record === null || record.proofs === null) {
        throw new Refusal('UNKNOWN_WALLET', 'no key to refresh')
      }
      if (sameBytes(record.encodedCertificate, certificate)) {
        return { userSignature: record.proofs.userSignature }
      }
      if (record.next === null || !sameBytes(record.next.encodedCertificate, certificate)) {
        throw new Refusal('CONFLICT', 'certificate of another refresh')
      }
      const message = certificateMessage(certificate)
      const coSigners = registry.keysOf('co_signers', Date.now())
      if (!coSigners.some((key) => verifyP256(key, message, serviceSignature))) {
        throw new Refusal('UNAUTHENTIC', 'certificate')
      }
      // Verified with the same key, because the new shares make it as well.
      if (!isSignedBy(record.point, selfTestDigest(certificate), selfTest)) {
        throw new Refusal('UNAUTHENTIC', 'self-test')
      }
      const userSignature = await signer.sign(message)
      const body = encodeWalletEvidence({
        certificate,
        serviceSignature,
        userSignature,
        selfTest,
      })
      await evidence.append({ timeMs: Date.now(), kind: EVIDENCE_KIND.wallet, body })
      shares.activateNext(certificate, {
        serviceSignature: Buffer.from(serviceSignature),
        userSignature,
        selfTest: Buffer.from(selfTest),
      })
      return { userSignature }
    },
  }
}

function nameOf(sessionId: Uint8Array): string {
  return Buffer.from(sessionId).toString('hex')
}

function activeRecord({ walletId, epoch }: Refresh, { shares }: KeygenContext): WalletRecord {
  const record = shares.get(walletId)
  if (record === null || record.proofs === null) {
    throw new Refusal('UNKNOWN_WALLET', 'no key to refresh')
  }
  if (record.certificate.epoch !== epoch) throw new Refusal('WRONG_EPOCH', 'share epoch')
  return record
}
