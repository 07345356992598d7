import { approvalTermMessage } from '../../custody/approvals/approval-term.js'
import { authorizerName } from '../../custody/authorizers/authorizer.js'
import { escapeHtml } from '../../domain/escape-html.js'
import { ID_PREFIX, ulidOfBytes } from '../../domain/ids.js'
import { sameBytes } from '../../quorum-protocol/bytes.js'
import { sha256 } from '../../quorum-protocol/tagged.js'
import { rowHtml, scriptedPage, timeLeft } from '../authorizers/pages.js'
import { base64Url, COMMENT_CHARS_MAX } from '../authorizers/wire.js'
import type { SeenApproval, WaitingApproval } from '../vault/approvals.js'
import { describeCall, type Line, saysWhomItPays } from './call-words.js'

interface ApprovalPage {
  readonly email: string
  readonly rpId: string
  readonly signInPath: string
  readonly waiting: SeenApproval
  readonly nowMs: number
}

/** How the call ended, or that it is still open. */
type ApprovalState = 'open' | 'approved' | 'ended' | 'expired'

/** What leaves the wallet and to whom. These lines come first, because people decide by them. */
const MAIN_LINES: ReadonlySet<string> = new Set([
  ...['In short', 'Sends', 'Lets others take', 'Moves', 'Gives', 'For at least', 'To', 'Payee'],
  'Worth, as the service says',
])

/** Renders one waiting call for a person who is signed in as its owner. */
export function approvalPage(page: ApprovalPage): string {
  const { waiting, email, rpId, signInPath } = page
  const state = stateOf(page)
  const lines = linesOf(page)
  const main = lines.filter(([name]) => MAIN_LINES.has(name))
  const rest = lines.filter(([name]) => !MAIN_LINES.has(name))
  return scriptedPage(
    'Approve a call',
    {
      'rp-id': rpId,
      'sign-in': signInPath,
      approval: approvalIdOf(waiting),
      ...(isOver(state) ? {} : { 'over-in-ms': String(waiting.term.expiresAtMs - page.nowMs) }),
      challenge: base64Url(sha256(approvalTermMessage(waiting.row.term))),
    },
    `<h1>Approve this one call?</h1>
<p>Signed in as ${escapeHtml(email)}. Read it here: these words are made from the bytes that are signed.</p>
${isOver(state) || waiting.row.needed === 0 ? '' : timeLeft(waiting.term.expiresAtMs, page.nowMs)}
<dl class="main">${main.map(rowHtml).join('\n')}</dl>
<dl>${rest.map(rowHtml).join('\n')}</dl>
${isOver(state) ? '' : controls(page, state)}`,
  )
}

export function approvalIdOf({ term }: WaitingApproval): string {
  return `${ID_PREFIX.approval}${ulidOfBytes(term.approvalId)}`
}

export function stateOf({ waiting, nowMs }: ApprovalFacts): ApprovalState {
  const { row, term, people } = waiting
  if (row.ended !== null) return 'ended'
  if (term.expiresAtMs <= nowMs) return 'expired'
  return row.needed > 0 && people >= row.needed ? 'approved' : 'open'
}

function isOver(state: ApprovalState): boolean {
  return state === 'ended' || state === 'expired'
}

type ApprovalFacts = Pick<ApprovalPage, 'waiting' | 'nowMs'>

function controls({ waiting }: ApprovalPage, state: ApprovalState): string {
  const approve =
    waiting.row.needed > 0 && state === 'open'
      ? '<button type="button" id="approve-call">Approve with a passkey</button>'
      : ''
  return `${approve}
<div id="decline">
<label for="comment">Reason, which the agent gets</label>
<input id="comment" maxlength="${COMMENT_CHARS_MAX}">
<button type="button" class="danger" id="decline-call">Decline</button>
</div>`
}

/**
 * Lists everything shown about a call: what was decoded here, and on lines of their own the
 * service's claims.
 */
export function linesOf(page: ApprovalFacts): Line[] {
  const { waiting } = page
  const { row, term, call, people } = waiting
  const { needed } = row
  const names = approvedBy(waiting)
  return [
    ...(row.askedAgain === null ? [] : [againLine(row.askedAgain)]),
    ...describeCall(term, call, waiting.tokens),
    ...saidTokenLines(waiting),
    ...(row.payeeLabel === null ? [] : [labelLine(waiting, row.payeeLabel)]),
    ['Worth, as the service says', `${row.spendUsd} USD`],
    ...(row.names?.agent == null ? [] : ([[AGENT, row.names.agent]] as Line[])),
    ...(row.names?.wallet == null ? [] : ([[WALLET, row.names.wallet]] as Line[])),
    ['API key', `${ID_PREFIX.key}${ulidOfBytes(term.keyId)}`],
    ['Wallet', `${ID_PREFIX.subWallet}${ulidOfBytes(term.walletId)}`],
    ['Asked by the rule', row.rule],
    ...(needed === 0
      ? []
      : ([
          [
            'Approved by',
            `${people} of ${needed}${names.length > 0 ? ':' : ''} ${names.join(', ')}`.trim(),
          ],
        ] as Line[])),
    ...timeLines(page, needed),
  ]
}

const AGENT = 'Agent, as the service calls it'
const WALLET = 'Wallet, as the service calls it'

/**
 * Describes tokens that the registry does not pin. The service supplies these names; this domain
 * does not verify them.
 */
function saidTokenLines({ row, tokens }: SeenApproval): Line[] {
  return (row.names?.tokens ?? []).flatMap(({ address, symbol, decimals }): Line[] =>
    tokens.has(address)
      ? []
      : [
          [
            `Token ${address}, as the service calls it`,
            `${symbol}; one ${symbol} is 10^${decimals} smallest units`,
          ],
        ],
  )
}

/** Says which address the service's label refers to, according to the decoded call. */
function labelLine({ term, call }: Pick<SeenApproval, 'term' | 'call'>, label: string): Line {
  const of = term.kind === 'intent' ? 'Venue' : saysWhomItPays(term, call) ? 'Payee' : 'Contract'
  return [`${of}, as the service calls it`, label]
}

const AGAIN_IN_WORDS: ReadonlyMap<string, string> = new Map([
  ['price', 'what it moves is worth more or less by now'],
  ['quote', 'the venue offers more or less for it by now'],
  ['gas', 'its network fee may be higher by now'],
  ['policy', 'the policy asks for more people by now'],
  ['people', 'too few of those who approved it may by now'],
])

function againLine(why: string): Line {
  return ['Asked again', AGAIN_IN_WORDS.get(why) ?? 'the service does not say why']
}

function timeLines({ waiting: { row, term }, nowMs }: ApprovalFacts, needed: number): Line[] {
  if (row.ended !== null) {
    const comment = row.ended.comment === null ? '' : `: ${row.ended.comment}`
    return [['Now', `${row.ended.as} at ${isoMinute(row.ended.atMs)}${comment}`]]
  }
  if (term.expiresAtMs <= nowMs) return [['Now', 'expired: nothing was signed']]
  const dueMs = row.askedAtMs + row.delaySeconds * 1_000
  const until = `${describeTimeLeft(term.expiresAtMs - nowMs)}, until ${isoMinute(term.expiresAtMs)}`
  if (needed > 0)
    return [
      ['Time left', until],
      ...(row.delaySeconds === 0 || dueMs <= nowMs
        ? []
        : ([['Once approved', `it is sent at ${isoMinute(dueMs)}`]] as Line[])),
      ['If nobody acts', 'it expires and is not sent'],
    ]
  const due =
    dueMs <= nowMs ? 'now' : `in ${describeTimeLeft(dueMs - nowMs)}, at ${isoMinute(dueMs)}`
  return [['If nobody acts', `it is sent ${due}`]]
}

/** Names the authorizers that approved the call and may still approve it. */
function approvedBy({ row, approvers }: SeenApproval): string[] {
  return row.approvals.flatMap(({ authorizerId }) => {
    if (authorizerId.length === 0) return approvers.length === 0 ? ['dev’s software key'] : []
    const known = approvers.find(({ id }) => sameBytes(id, authorizerId))
    return known === undefined ? [] : [`${known.label} (${authorizerName(known.id)})`]
  })
}

function describeTimeLeft(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 120) return minutes === 1 ? '1 minute' : `${minutes} minutes`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
}

function isoMinute(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
