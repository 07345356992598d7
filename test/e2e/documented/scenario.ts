import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { consoleOperations } from '../../../src/api/console-operations.js'
import { operations } from '../../../src/api/operations.js'
import { createUser } from '../../../src/identity-provider/login/create-user.js'
import type { ReplyBody } from '../../support/http-client.js'
import { finalOf, issueKey, type Stack } from '../stack.js'

/**
 * Every documented operation once, in an order in which each has something to work on. The answers
 * are what documents show, and the documented requests are run in the same order.
 */

export type Input = Readonly<Record<string, unknown>>

export interface Step {
  readonly name: string
  /** Runs right before the step. @returns its input, and whose credentials it takes */
  readonly prepare: () => Promise<Prepared> | Prepared
  /** Runs right after it, with its answer. */
  readonly after?: (answer: ReplyBody) => Promise<void> | void
}

interface Prepared {
  readonly input: Input
  /** Default: the development trade key. */
  readonly apiKey?: string
  /** Default: a token of the development user. */
  readonly token?: string
}

const CHAIN = 8453
const TO = '0x000000000000000000000000000000000000dEaD'
export const SEND = { chain_id: CHAIN, to: TO, value: '1000000000000000' }
const CAPS = { daily_limit_usd: '500', monthly_limit_usd: '5000' }
const DAY_MS = 86_400_000
const APPROVE_SELECTOR = '0x095ea7b3'

/** @param hookUrl receives deliveries and answers 2xx */
export function scenario({ service, owner }: Stack, hookUrl: string): readonly Step[] {
  const { tokens, keys, sub_wallet_id: wallet } = service.dev()
  const { USDC = '', WRAPPED = '' } = tokens[CHAIN] ?? {}
  const agent = service.api()
  const made: Record<string, string> = {}
  const keep =
    (name: string, field: string) =>
    (answer: ReplyBody): void => {
      made[name] = String(answer[field])
    }
  const plain = (name: string, input: Input = {}): Step => ({ name, prepare: () => ({ input }) })
  const withMade = (name: string, field: string, from: string, rest: Input = {}): Step => ({
    name,
    prepare: () => ({ input: { [field]: made[from], ...rest } }),
  })
  const written = (name: string, input: Input, txName: string): Step => ({
    name,
    prepare: () => ({ input }),
    after: async (answer) => {
      made[txName] = String(answer.tx_id)
      await finalOf(agent, answer.tx_id)
    },
  })
  /** A key whose calls wait for a person. */
  const waitingCall = async (name: string): Promise<void> => {
    const { keyId, api } = await issueKey({ service, owner })
    const policy = { rules: [], default: 'require_approval' }
    const patched = await owner.call('PATCH', `/keys/${keyId}`, { body: { policy } })
    if (patched.status !== 200) throw new Error(patched.text)
    const sent = await api.post('/api/tx/send', SEND)
    made[`${name} tx`] = String(sent.json.tx_id)
    made[`${name} id`] = String((sent.json.approval as ReplyBody | undefined)?.approval_id)
  }
  const approve = `${APPROVE_SELECTOR}${TO.slice(2).padStart(64, '0')}${(1_000_000).toString(16).padStart(64, '0')}`
  const members = membersOf({ service, owner })

  return [
    plain('get_wallet_address'),
    plain('get_supported_chains'),
    plain('get_limits'),
    plain('gas_estimate', { chain_id: CHAIN }),
    plain('get_native_balance', { chain_id: CHAIN }),
    plain('get_token_balances', { chain_id: CHAIN }),
    plain('get_balance', { chain_id: CHAIN, token: USDC }),
    plain('simulate_transaction', SEND),
    written('send_transaction', SEND, 'tx'),
    withMade('get_transaction_status', 'tx_id', 'tx'),
    {
      name: 'get_allowances',
      prepare: async () => {
        const sent = await agent.post('/api/tx/send', { chain_id: CHAIN, to: USDC, data: approve })
        await finalOf(agent, sent.json.tx_id)
        return { input: { chain_id: CHAIN } }
      },
    },
    plain('get_swap_quote', {
      chain_id: CHAIN,
      token_in: USDC,
      token_out: WRAPPED,
      amount_in: '1500000',
    }),
    written(
      'execute_swap',
      { chain_id: CHAIN, token_in: USDC, token_out: WRAPPED, amount_in: '1500000' },
      'swap',
    ),
    {
      ...plain('get_defi_markets', { chain_id: CHAIN }),
      after: (answer) => {
        const [market] = answer.markets as readonly ReplyBody[]
        made.market = String(market?.market_id)
      },
    },
    withMade('get_deposit_quote', 'market_id', 'market', { chain_id: CHAIN, amount: '1500000' }),
    {
      name: 'defi_deposit',
      prepare: () => ({
        input: { chain_id: CHAIN, market_id: made.market, amount: '1500000' },
      }),
      after: async ({ tx_id: txId }) => void (await finalOf(agent, txId)),
    },
    {
      ...plain('get_positions', { chain_id: CHAIN }),
      after: (answer) => {
        const [position] = answer.positions as readonly ReplyBody[]
        made.shares = String(position?.shares)
        made.half = String(BigInt(made.shares) / 2n)
      },
    },
    {
      name: 'get_withdraw_quote',
      prepare: () => ({
        input: { chain_id: CHAIN, market_id: made.market, shares: made.shares },
      }),
    },
    {
      name: 'defi_withdraw',
      prepare: () => ({ input: { chain_id: CHAIN, market_id: made.market, shares: made.half } }),
      after: async ({ tx_id: txId }) => void (await finalOf(agent, txId)),
    },
    plain('get_gas_swap_quote', { chain_id: CHAIN, amount_in: '1500000' }),
    written('gas_swap', { chain_id: CHAIN, amount_in: '1500000' }, 'gas swap'),

    plain('get_user'),
    {
      ...plain('create_wallet', { name: 'Research agent' }),
      after: keep('wallet', 'sub_wallet_id'),
    },
    plain('list_wallets', {}),
    plain('get_wallet_balances', { sub_wallet_id: wallet, chain_id: CHAIN }),
    plain('get_wallet_positions', { sub_wallet_id: wallet, chain_id: CHAIN }),
    plain('get_wallet_allowances', { sub_wallet_id: wallet, chain_id: CHAIN }),
    plain('get_wallet_gas', { sub_wallet_id: wallet }),
    {
      name: 'create_key',
      prepare: () => ({
        input: {
          ...{ name: 'Research agent', sub_wallet_id: made.wallet, permission: 'trade', ...CAPS },
          ...{ allowed_chains: [1, CHAIN], may_delegate: true },
        },
      }),
      after: keep('key', 'key_id'),
    },
    {
      name: 'create_child_key',
      prepare: async () => {
        const body = { name: 'Fleet', sub_wallet_id: wallet, permission: 'trade', ...CAPS }
        const parent = await owner.post('/keys', { ...body, may_delegate: true })
        return {
          apiKey: String(parent.json.secret),
          input: {
            ...{ name: 'Summary of one paper', permission: 'trade', allowed_chains: [CHAIN] },
            ...{ daily_limit_usd: '5', monthly_limit_usd: '5' },
            expires_at: new Date(Date.now() + DAY_MS).toISOString(),
          },
        }
      },
    },
    plain('list_keys'),
    withMade('patch_key', 'key_id', 'key', { daily_limit_usd: '400' }),
    plain('backtest_key', { key_id: keys.trade.key_id, daily_limit_usd: '5' }),
    withMade('test_policy', 'key_id', 'key', {
      policy: {
        rules: [{ name: 'small sends', effect: 'allow', when: { operations: ['send'] } }],
        default: 'deny',
      },
      calls: [
        { operation: 'send', chain_id: CHAIN, to: TO, data: '0x', value: '1000000000000000' },
      ],
    }),
    { ...withMade('rotate_key', 'key_id', 'key'), after: keep('successor', 'key_id') },
    withMade('revoke_key', 'key_id', 'successor'),
    {
      name: 'list_approvals',
      prepare: async () => {
        await waitingCall('approve')
        await waitingCall('decline')
        return { input: { status: 'pending' } }
      },
    },
    withMade('get_approval', 'approval_id', 'approve id'),
    withMade('approve_call', 'approval_id', 'approve id', { comment: 'Invoice 7 is due.' }),
    withMade('decline_call', 'approval_id', 'decline id', { comment: 'Not our supplier.' }),
    {
      name: 'withdraw_transaction',
      prepare: async () => {
        const key = await issueKey({ service, owner })
        const body = { policy: { rules: [], default: 'require_approval' } }
        await owner.call('PATCH', `/keys/${key.keyId}`, { body })
        const sent = await key.api.post('/api/tx/send', SEND)
        return { apiKey: key.secret, input: { tx_id: sent.json.tx_id } }
      },
    },
    {
      name: 'freeze',
      prepare: () => ({ input: { scope: 'wallet', id: made.wallet, reason: 'Under review' } }),
    },
    { name: 'unfreeze', prepare: () => ({ input: { scope: 'wallet', id: made.wallet } }) },
    plain('get_breakers'),
    plain('set_breakers', {
      breakers: [{ kind: 'refusals', count: 20, per_seconds: 300 }],
    }),
    plain('list_authorizers'),
    ...members,
    {
      ...plain('create_webhook', { url: hookUrl, description: 'Billing' }),
      after: keep('webhook', 'webhook_id'),
    },
    plain('list_webhooks'),
    withMade('patch_webhook', 'webhook_id', 'webhook', { description: 'Bookkeeping' }),
    withMade('test_webhook', 'webhook_id', 'webhook'),
    {
      name: 'list_deliveries',
      prepare: async () => {
        const path = `/webhooks/${made.webhook}/deliveries`
        await vi.waitFor(
          async () => expect((await owner.get(path)).text).toContain('"delivered"'),
          { timeout: 30_000, interval: 100 },
        )
        return { input: { webhook_id: made.webhook } }
      },
    },
    withMade('rotate_webhook_secret', 'webhook_id', 'webhook'),
    {
      ...plain('list_events', { after: 0, limit: 5 }),
      after: (answer) => {
        const [event] = answer.events as readonly ReplyBody[]
        made.event = String(event?.event_id)
      },
    },
    {
      name: 'redeliver_event',
      prepare: () => ({ input: { event_id: made.event, webhook_id: made.webhook } }),
    },
    withMade('delete_webhook', 'webhook_id', 'webhook'),
    plain('list_audit', { limit: 5 }),
    plain('put_address_rule', { address: TO, action: 'allow', note: 'The burn address' }),
    plain('list_address_rules'),
    plain('delete_address_rule', { address: TO }),
    plain('list_screening_lists'),
    plain('check_address', { address: TO }),
    {
      name: 'revoke_allowances',
      prepare: () => ({ input: { sub_wallet_id: wallet, chain_id: CHAIN } }),
    },
    plain('list_transactions', { limit: 5 }),
    withMade('get_transaction', 'tx_id', 'tx'),
    plain('list_spend', { days: 7 }),
    plain('get_spend_totals', { days: 7 }),
    {
      name: 'list_refusals',
      prepare: async () => {
        const capped = await issueKey({ service, owner }, { dailyUsd: '1', monthlyUsd: '1' })
        await capped.api.post('/api/tx/send', SEND)
        return { input: { hours: 24 } }
      },
    },
    plain('get_service_status'),
    {
      name: 'cancel_transaction',
      prepare: async () => {
        const headers = { 'Countersign-Fault': 'dropped-broadcast' }
        const sent = await agent.post('/api/tx/send', SEND, headers)
        return { input: { tx_id: sent.json.tx_id } }
      },
    },
  ]
}

/** Two people of their own: one joins and leaves, one declines. */
function membersOf({ service, owner }: Stack): readonly Step[] {
  const people: Person[] = []
  const person = async (): Promise<Person> => {
    const email = `${randomBytes(6).toString('hex')}@example.com`
    const password = randomBytes(12).toString('hex')
    await createUser(join(service.home, 'identity-provider'), email, password)
    const token = await service.token({ email, password })
    const me = await service.console(token).get('/me')
    return { email, password, token, personId: String(me.json.user_id) }
  }
  const invited = async (): Promise<Person> => {
    const one = await person()
    const reply = await owner.post('/members', { email: one.email, role: 'viewer' })
    if (reply.status !== 200) throw new Error(`not invited: ${reply.text}`)
    return one
  }
  const accountOf = async () => String((await owner.get('/me')).json.user_id)
  const accepted = async (): Promise<Person> => {
    const one = await invited()
    const body = { account_id: await accountOf() }
    await service.console(one.token).post('/invitations/accept', body)
    return one
  }
  const of = (index: number): Person => {
    const found = people[index]
    if (found === undefined) throw new Error('nobody was invited')
    return found
  }
  return [
    {
      name: 'invite_member',
      prepare: async () => {
        people.push(await person())
        return { input: { email: of(0).email, role: 'viewer' } }
      },
    },
    {
      name: 'accept_invitation',
      prepare: async () => ({ token: of(0).token, input: { account_id: await accountOf() } }),
    },
    { name: 'list_members', prepare: () => ({ input: {} }) },
    {
      name: 'change_member',
      prepare: () => ({ input: { person_id: of(0).personId, role: 'operator' } }),
    },
    { name: 'remove_member', prepare: () => ({ input: { person_id: of(0).personId } }) },
    {
      name: 'decline_invitation',
      prepare: async () => {
        people.push(await invited())
        return { token: of(1).token, input: { account_id: await accountOf() } }
      },
    },
    {
      name: 'leave_account',
      prepare: async () => {
        const { email, password } = await accepted()
        const token = await service.token({ email, password, account: await accountOf() })
        return { token, input: {} }
      },
    },
  ]
}

interface Person {
  readonly email: string
  readonly password: string
  readonly token: string
  readonly personId: string
}

const rows = [...operations, ...consoleOperations]

export type Row = (typeof rows)[number]

export function rowOf(name: string): Row {
  const row = rows.find((one) => one.name === name)
  if (row === undefined) throw new Error(`there is no operation ${name}`)
  return row
}

export const ALL_NAMES: readonly string[] = rows.map(({ name }) => name)
