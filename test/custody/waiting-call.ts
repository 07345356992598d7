import { randomBytes } from 'node:crypto'
import { approvalKeyProof, encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import { type ApprovalId, type KeyId, type SubWalletId, ulidBody } from '../../src/domain/ids.js'
import { expectList } from '../../src/quorum-protocol/bytes.js'
import { deriveProofKey } from '../../src/service-custody/key-proof.js'
import { callTerm } from './approval-terms.js'
import { becomeService } from './hostile.js'
import { ALICE, pays, USDC } from './policy-cases.js'

/** A payment that waits for people at the identity provider of a whole running stack. */
export interface WaitingPayment {
  readonly approvalId: ApprovalId
  /** What was decided last at the identity provider. */
  decided(): Promise<{ readonly decision: unknown; readonly comment: unknown }>
}

export async function waitingPayment(
  stack: { readonly home: string },
  key: {
    readonly userId: string
    readonly walletId: string
    readonly keyId: string
    readonly secret: string
  },
  needed: number,
): Promise<WaitingPayment> {
  const { userId, walletId, keyId, secret } = key
  const approvalId = `apr_${ulidBody(Date.now(), randomBytes(10))}` as ApprovalId
  const data = pays(ALICE, 5n)
  const term = callTerm(
    {
      ...{ approvalId, userId, maxNativeWei: 10n ** 15n, expiresAtMs: Date.now() + 600_000 },
      ...{ walletId: walletId as SubWalletId, keyId: keyId as KeyId },
    },
    { chainId: 8453, to: USDC, value: 0n, data },
  )
  const asService = async (method: string, parameters: unknown[]) => {
    const service = await becomeService(stack)
    try {
      return await service.userSide.call(method, parameters)
    } finally {
      await service.close()
    }
  }
  const call = Buffer.from(data.slice(2), 'hex')
  const keyProof = approvalKeyProof(deriveProofKey(secret), term, call)
  await asService('approval-ask', [
    ...[encodeApprovalTerm(term), userId, call, needed, 0],
    ...['large payments', '5.00', keyProof, 'Alice'],
  ])
  return {
    approvalId,
    async decided() {
      const decisions = expectList(await asService('approval-decisions', [0]), 64)
      const newest = expectList(decisions.at(-1), 9)
      return { decision: newest[4], comment: newest[7] }
    },
  }
}

/** Subject of a console token. */
export function subjectOf(token: string): string {
  const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8')
  return (JSON.parse(claims) as { readonly sub: string }).sub
}
