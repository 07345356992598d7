import type { SubWalletId } from '../../src/domain/ids.js'
import { ID_PREFIX, type KeyId, ulidOfBytes } from '../../src/domain/ids.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import { Refusal } from '../../src/quorum-protocol/refusal.js'
import type {
  CoSigner,
  GrantUpdate,
  WalletCertificate,
} from '../../src/service-custody/co-signer.js'
import type { QuorumApprovals } from './quorum-approvals.js'
import type { QuorumFreezes } from './quorum-freezes.js'
import type { QuorumGrants } from './quorum-grants.js'

/** How the service reaches what the user side keeps by rules alone. @param method as on the wire */
export type Ask = <T>(method: string, work: () => T) => Promise<T>

export interface AskedUserSide {
  readonly grants: QuorumGrants
  readonly approvals: QuorumApprovals
  readonly freezes: QuorumFreezes
  /** By its clock. */
  readonly nowMs: () => number
  readonly ignoresFreezes: boolean
  /** Of whoever wants a freeze lifted. */
  readonly isProven: () => boolean
  readonly serviceWallet: (walletId: SubWalletId) => WalletCertificate
}

type Asks = Pick<
  CoSigner,
  | 'createServiceWallet'
  | 'putGrant'
  | 'freeze'
  | 'unfreeze'
  | 'registerApproval'
  | 'approve'
  | 'endApproval'
  | 'approvalDecisions'
>

/** Methods that wait for a token to be read, and then ask anew who is served (`start-vault.ts`). */
export const READ_TOKENS: ReadonlySet<string> = new Set([
  'grant-put',
  'freeze-lift',
  'approval-give',
])

/** What a start that was taken over from may still have on its way, besides signatures. */
export const ASKED_LATE = [
  ...['grant-put', 'freeze-put', 'freeze-lift', 'approval-ask', 'approval-give', 'approval-end'],
  ...['refresh-begin', 'refresh-prepare', 'refresh-certify', 'keygen-commit', 'keygen-certify'],
] as const

/** What the service asks of the user side besides signatures. */
export function userSideAsks(ask: Ask, to: AskedUserSide): Asks {
  const { grants, approvals, freezes, nowMs } = to
  return {
    createServiceWallet: (walletId) => ask('keygen-certify', () => to.serviceWallet(walletId)),
    putGrant(update) {
      const basedOn = grants.versionFor(update)
      return ask('grant-put', () => {
        requirePresent(update, basedOn, grants)
        return grants.put(update, nowMs())
      })
    },
    freeze: (subject) =>
      ask('freeze-put', () => {
        if (!to.ignoresFreezes) freezes.freeze(subject, nowMs())
      }),
    unfreeze(subject) {
      // What is confirmed is the lifting of the freeze that was there when it was asked for.
      const sequence = freezes.sequenceOf(subject)
      let isProven: boolean | null = null
      return ask('freeze-lift', () => {
        // As good as it was the first time, where it comes twice.
        isProven ??= to.isProven()
        if (!isProven) throw new FaultError(fault('AUTHORIZATION_REFUSED', { reason: 'no proof' }))
        if (freezes.sequenceOf(subject) !== sequence) {
          throw new Refusal('NOT_CONFIRMED', 'another freeze than was asked about')
        }
        freezes.unfreeze(subject)
        return { authorizedBy: 'software' }
      })
    },
    registerApproval: (registration) =>
      ask('approval-ask', () => {
        const keyId = keyIdOf(registration.term.keyId)
        approvals.ask(registration, grants.proofKeyOf(keyId), nowMs())
      }),
    approve: (update) => ask('approval-give', () => approvals.approve(update, nowMs())),
    endApproval: (ended) => ask('approval-end', () => approvals.end(ended, nowMs())),
    approvalDecisions: (after) => ask('approval-decisions', () => approvals.decisionsAfter(after)),
  }
}

/** A change that was late must not undo the one that came before it; a revocation holds whatever it meets. */
function requirePresent(update: GrantUpdate, basedOn: number, grants: QuorumGrants): void {
  if (update.revoked || grants.versionFor(update) === basedOn) return
  throw new Refusal('STALE_GRANT', 'the grant changed meanwhile')
}

/** Of something that nobody here asks for. */
export function unknown(): Promise<never> {
  return Promise.reject(new FaultError(fault('COSIGNER_UNAVAILABLE')))
}

function keyIdOf(bytes: Uint8Array): KeyId {
  return `${ID_PREFIX.key}${ulidOfBytes(bytes)}` as KeyId
}
