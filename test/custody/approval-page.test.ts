import { encodeFunctionData, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { showCall } from '../../src/cli/approve-call.js'
import type { AuthorizerClient } from '../../src/cli/authorizer-client.js'
import { encodeApprovalTerm } from '../../src/custody/approvals/approval-term.js'
import type { Authorizer } from '../../src/custody/authorizers/authorizer.js'
import type { PinnedToken } from '../../src/custody/domain-keys/pinned-tokens.js'
import type { Address, ApprovalId, Hex } from '../../src/domain/ids.js'
import {
  approvalPage,
  linesOf,
  stateOf,
} from '../../src/identity-provider/approvals/approval-page.js'
import { describeCall, KNOWN_FUNCTIONS } from '../../src/identity-provider/approvals/call-words.js'
import type { ApprovalRow } from '../../src/identity-provider/vault/approval-rows.js'
import { selectorOf } from '../../src/policy/function-signature.js'
import { fromHex } from '../../src/quorum-protocol/transaction.js'
import { callTerm, intentTerm } from './approval-terms.js'
import { newKeyId, newWalletId, ROUTER, routerIntent, STRANGER } from './harness.js'
import { ALICE, BOB, pays, USDC } from './policy-cases.js'

/** A registry of before it pinned any. */
const NO_TOKENS = new Map<string, PinnedToken>()
const NOW_MS = Date.UTC(2026, 0, 5, 12)
const ASKED = {
  approvalId: newWalletId().replace('sw_', 'apr_') as ApprovalId,
  walletId: newWalletId(),
  keyId: newKeyId(),
  userId: 'ada',
  maxNativeWei: 10n ** 15n,
  expiresAtMs: NOW_MS + 600_000,
}

function words(to: Address, data: Hex, value = 0n): Record<string, string> {
  const term = callTerm(ASKED, { chainId: 8453, to, value, data })
  return Object.fromEntries(describeCall(term, fromHex(data), NO_TOKENS))
}

/** As `approvals show` prints it, of what the identity provider's route answers. */
function onCommandLine(to: Address, data: Hex, value: bigint) {
  const term = callTerm(ASKED, { chainId: 8453, to, value, data })
  const lines = describeCall(term, fromHex(data), NO_TOKENS).map(([name, said]) => ({
    name,
    value: said,
  }))
  const client = { origin: 'https://u', call: () => Promise.resolve({ state: 'open', lines }) }
  return showCall(client as AuthorizerClient, ASKED.approvalId)
}

/** @param people who approved it, as the ledger counts them */
function waitingFor(change: Partial<ApprovalRow> = {}, people = 0) {
  const data = pays(ALICE, 1_000n)
  const term = callTerm(ASKED, { chainId: 8453, to: USDC, value: 0n, data })
  const row: ApprovalRow = {
    ...{ term: encodeApprovalTerm(term), userId: 'ada', askedAtMs: NOW_MS, needed: 2 },
    ...{ delaySeconds: 0, rule: 'large <payments>', spendUsd: '1000.00', payeeLabel: 'Alice & Co' },
    askedAgain: null,
    ...{ approvals: [], ended: null, ...change },
  }
  const authorizer: Authorizer = {
    ...{ id: new Uint8Array(16).fill(1), kind: 'p256', label: 'Phone' },
    ...{ createdAtMs: 0, credentialId: Buffer.alloc(0), publicKey: Buffer.alloc(65) },
  }
  const tokens = NO_TOKENS
  const waiting = { row, term, call: fromHex(data), approvers: [authorizer], people, tokens }
  return { waiting, nowMs: NOW_MS + 1_000 }
}

const given = (authorizerId: Uint8Array) => ({ authorizerId, proof: Buffer.alloc(0), atMs: NOW_MS })

describe('a call in words', () => {
  test('says on the command line too both what it moves and what goes along', async () => {
    expect(await onCommandLine(USDC, pays(ALICE, 1_000n), 10n ** 18n)).toMatchObject({
      ...{ state: 'open', payee: ALICE },
      sends: `1000 smallest units of the token ${USDC}; 1 ETH`,
    })
  })

  test('with payee, amount, function and arguments, from its own bytes', () => {
    expect(words(USDC, pays(ALICE, 1_000n))).toMatchObject({
      Sends: `1000 smallest units of the token ${USDC}`,
      Payee: ALICE,
      Contract: USDC,
      Function: 'transfer(address,uint256)',
      to: ALICE,
      amount: '1000',
      Chain: 'Base',
      'Network fee': '0.001 ETH at the most',
    })
    expect(words(BOB, '0x', 5n * 10n ** 17n)).toMatchObject({ Sends: '0.5 ETH', To: BOB })
  })

  test('as an allowance where it is one, in full where it is unbounded', () => {
    const data = encodeFunctionData({
      abi: parseAbi(['function approve(address spender, uint256 amount)']),
      args: [BOB, 2n ** 256n - 1n],
    })
    expect(words(USDC, data)).toMatchObject({
      'Lets others take': `any amount of the token ${USDC}`,
      spender: BOB,
    })
  })

  test('by names that are those of its selector', () => {
    for (const [selector, { canonical }] of KNOWN_FUNCTIONS) {
      expect(selectorOf(canonical)).toBe(selector)
    }
  })

  test('as unknown where no function is known, or its words are not as they must be', () => {
    const dirty = pays(ALICE, 1n).replace('0'.repeat(24), `1${'0'.repeat(23)}`) as Hex
    for (const data of ['0xdeadbeef00', dirty] as const) {
      const lines = words(USDC, data)
      expect(lines.Function).toContain('unknown')
      expect(lines.Moves).toContain('do not say')
      expect(lines[`Calldata, ${(data.length - 2) / 2} bytes`]).toBe(data.toLowerCase())
    }
  })

  test('with what it gives and gets at least, of a Router intent', () => {
    const { term, call } = intentTerm(ASKED, {
      ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
      intent: { ...routerIntent(STRANGER), amountIn: 7n, feeBps: 25 },
    })
    const lines = Object.fromEntries(describeCall(term, call, NO_TOKENS))
    expect(lines).toMatchObject({
      Fee: '0.25 % of what it gives',
      'Network fee': 'paid by the service',
    })
    expect(lines.Gives).toContain('7 ')
  })
})

describe('the page of a call that waits', () => {
  test('says what it is worth by the service’s word, the rule, who approved, and the time left', () => {
    const lines = Object.fromEntries(
      linesOf(waitingFor({ approvals: [given(new Uint8Array(16).fill(1))] }, 1)),
    )
    expect(lines).toMatchObject({
      'Worth, as the service says': '1000.00 USD',
      'Payee, as the service calls it': 'Alice & Co',
      'Asked by the rule': 'large <payments>',
      'Time left': '9 minutes, until 2026-01-05 12:10 UTC',
      'If nobody acts': 'it expires and is not sent',
    })
    expect(lines['Approved by']).toContain('1 of 2: Phone (aut_')
  })

  test('names the service’s label after what it is of', () => {
    const labelOf = (waiting: ReturnType<typeof waitingFor>) =>
      linesOf(waiting).flatMap(([name, said]) => (said === 'Alice & Co' ? [name] : []))
    expect(labelOf(waitingFor())).toEqual(['Payee, as the service calls it'])
    const unread = fromHex('0xdeadbeef')
    const term = callTerm(ASKED, { chainId: 8453, to: USDC, value: 0n, data: '0xdeadbeef' })
    const ofContract = { ...waitingFor(), waiting: { ...waitingFor().waiting, term, call: unread } }
    expect(labelOf(ofContract)).toEqual(['Contract, as the service calls it'])
    const intent = intentTerm(ASKED, {
      ...{ type: 'router-intent', chainId: 8453, verifyingContract: ROUTER },
      intent: routerIntent(STRANGER),
    })
    const ofVenue = { ...waitingFor(), waiting: { ...waitingFor().waiting, ...intent } }
    expect(labelOf(ofVenue)).toEqual(['Venue, as the service calls it'])
  })

  test('says why people are asked again, and when it is sent once they have approved', () => {
    const waiting = waitingFor({ askedAgain: 'quote', delaySeconds: 120 })
    expect(Object.fromEntries(linesOf(waiting))).toMatchObject({
      'Asked again': 'the venue offers more or less for it by now',
      'Once approved': 'it is sent at 2026-01-05 12:02 UTC',
      'If nobody acts': 'it expires and is not sent',
    })
    const unknown = Object.fromEntries(linesOf(waitingFor({ askedAgain: '<why>' })))
    expect(unknown['Asked again']).toBe('the service does not say why')
  })

  test('shows nobody’s text as markup, and no buttons once there is nothing to decide', () => {
    const page = { email: 'a@b.example', rpId: 'b.example', signInPath: '/approve/x?sign-in=again' }
    const open = approvalPage({ ...page, ...waitingFor() })
    expect(open).toContain('large &#60;payments&#62;')
    expect(open).toContain('id="approve-call"')
    const ended = { as: 'declined', atMs: NOW_MS, comment: '<b>no</b>' } as const
    const over = approvalPage({ ...page, ...waitingFor({ ended }) })
    expect(over).toContain('declined at 2026-01-05 12:00 UTC: &#60;b&#62;no')
    expect(over).not.toContain('<button')
  })

  test('counts nobody who is no authorizer any more', () => {
    const removed = waitingFor({ needed: 1, approvals: [given(new Uint8Array(16).fill(9))] })
    expect(stateOf(removed)).toBe('open')
    const approvals = [given(new Uint8Array(16).fill(1))]
    expect(stateOf(waitingFor({ needed: 1, approvals }, 1))).toBe('approved')
    expect(stateOf(waitingFor({ needed: 2, approvals }, 1))).toBe('open')
    expect(stateOf({ ...waitingFor(), nowMs: NOW_MS + 600_000 })).toBe('expired')
  })

  test('says when a call that waits for its time alone is sent', () => {
    const lines = Object.fromEntries(linesOf(waitingFor({ needed: 0, delaySeconds: 120 })))
    expect(lines['If nobody acts']).toBe('it is sent in 1 minute, at 2026-01-05 12:02 UTC')
    expect(lines['Approved by']).toBeUndefined()
  })
})

describe('names on the page', () => {
  const pinned = new Map([[USDC.toLowerCase(), { symbol: 'USDC', decimals: 6 }]])
  const names = {
    agent: 'Research agent',
    wallet: 'Treasury',
    tokens: [{ address: USDC.toLowerCase(), symbol: 'FAKE', decimals: 0 }],
  }

  test('of a pinned token are the registry’s, whatever the service calls it', () => {
    const { waiting, nowMs } = waitingFor({ names })
    const lines = linesOf({ waiting: { ...waiting, tokens: pinned }, nowMs })
    const said = Object.fromEntries(lines)
    expect(said['In short']).toBe(`Send 0.001 USDC to ${ALICE.toLowerCase()} on Base`)
    expect(said.Sends).toBe('0.001 USDC')
    expect(said.Contract).toBe(`the token USDC, ${USDC}`)
    expect(JSON.stringify(lines)).not.toContain('FAKE')
  })

  test('of agent, wallet and other tokens are marked as the service’s', () => {
    const { waiting, nowMs } = waitingFor({ names })
    const lines = Object.fromEntries(linesOf({ waiting, nowMs }))
    expect(lines).toMatchObject({
      'Agent, as the service calls it': 'Research agent',
      'Wallet, as the service calls it': 'Treasury',
      [`Token ${USDC.toLowerCase()}, as the service calls it`]: expect.stringContaining('FAKE'),
      Sends: `1000 smallest units of the token ${USDC.toLowerCase()}`,
    })
  })

  test('are absent where an older service gave none', () => {
    const { waiting, nowMs } = waitingFor()
    expect(linesOf({ waiting, nowMs }).map(([name]) => name)).not.toContain(
      'Agent, as the service calls it',
    )
  })
})
