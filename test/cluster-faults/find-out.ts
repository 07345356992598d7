import { join } from 'node:path'
import { parseTransaction, recoverTransactionAddress, type TransactionSerialized } from 'viem'
import { keccak256 } from 'viem/utils'
import { expect } from 'vitest'
import type { TransactionView } from '../../src/api/transaction.js'
import { countersign } from '../custody/command.js'
import { type Found, type Landed, type Limits, type Told, usdMicros } from './audit.js'
import type { Asked, Purse } from './callers.js'
import { type Follower, logOf } from './followers.js'
import type { User, World } from './world.js'

/** What a world came to, once it is at rest. */
export async function findOut(
  world: World,
  asked: readonly Asked[],
  purses: readonly Purse[],
  followers: readonly Follower[],
): Promise<Found> {
  const { url } = await world.leader()
  const listed = await allFinal(world, url)
  const limits = new Map<Purse, Limits>()
  for (const purse of purses) limits.set(purse, await limitsOf(purse, url))
  const told: Told[] = []
  for (const follower of followers) told.push(await toldTo(follower, url))
  return { asked, purses, listed, landed: await landedOn(world.sinkUrl), limits, told }
}

const FINAL = new Set(['confirmed', 'failed', 'dropped'])
const COMES_TO_REST = { timeout: 60_000, interval: 250 }
const PAGE = 100

/** Or what is not final yet, when it does not become so: that is judged. */
async function allFinal({ users }: World, url: string): Promise<TransactionView[]> {
  let listed: TransactionView[] = []
  const open = async () => {
    listed = (await Promise.all(users.map((user) => transactionsOf(user, url)))).flat()
    return listed.filter(({ status }) => !FINAL.has(status)).length
  }
  await settles(() => expect.poll(open, COMES_TO_REST).toBe(0))
  return listed
}

/** What does not come to rest shows in what is judged. */
async function settles(wait: () => Promise<unknown>): Promise<void> {
  await wait().catch(() => undefined)
}

async function transactionsOf(user: User, url: string): Promise<TransactionView[]> {
  const all: TransactionView[] = []
  for (let cursor = ''; ; ) {
    const page = await user.console(url).get(`/transactions?limit=${PAGE}${cursor}`)
    if (page.status !== 200) throw new Error(`no list: ${page.text}`)
    all.push(...(page.json.transactions ?? []))
    if (typeof page.json.next_cursor !== 'string') return all
    cursor = `&cursor=${page.json.next_cursor}`
  }
}

async function limitsOf(purse: Purse, url: string): Promise<Limits> {
  const { json } = await purse.at(url).get('/api/limits')
  return {
    usedMicros: usdMicros(json.daily_used_usd),
    reservedMicros: usdMicros(json.reserved_usd),
  }
}

/** A delivery that was broken off is tried again after some five seconds, and then half a minute. */
const TOLD_IN_THE_END = { timeout: 60_000, interval: 250 }

async function toldTo({ user, streamed, hooked }: Follower, url: string): Promise<Told> {
  const log = await logOf(user, url)
  const wanted = log.filter(({ type }) => type.startsWith('transaction.'))
  await settles(() => expect.poll(() => streamed.length, TOLD_IN_THE_END).toBe(log.length))
  const ids = () => hooked.map(({ headers }) => headers['webhook-id'] ?? '')
  await settles(() =>
    expect
      .poll(() => wanted.every(({ event_id: id }) => ids().includes(id)), TOLD_IN_THE_END)
      .toBe(true),
  )
  return { log, streamed: [...streamed], hooked: ids() }
}

async function landedOn(sinkUrl: string): Promise<Landed[]> {
  const raws = (await (await fetch(`${sinkUrl}/raw`)).json()) as TransactionSerialized[]
  return Promise.all(
    raws.map(async (raw): Promise<Landed> => {
      const { to, nonce = 0, value = 0n } = parseTransaction(raw)
      const from = (
        await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
      ).toLowerCase()
      return { hash: keccak256(raw), from, to: (to ?? '').toLowerCase(), nonce, value }
    }),
  )
}

/** By the logs of all services, and of the identity provider that owned its journal last. */
export async function auditLogs(world: World, sends: number): Promise<string[]> {
  const { home } = await world.identity()
  const { code, stdout, stderr } = await countersign(world.nodes[0].home, [
    ...['verify-audit', '--json', '--rpc', world.sinkUrl],
    ...['--identity', join(home, 'identity-provider')],
    ...['--service', ...world.all.map((node) => join(node.home, 'service'))],
  ])
  if (stdout === '') return [`verify-audit ended with ${code}: ${stderr}`]
  const { approvals, problems } = JSON.parse(stdout) as { approvals: number; problems: unknown[] }
  const wrong = problems.map((it) => `verify-audit: ${JSON.stringify(it)}`)
  if (approvals < sends) wrong.push(`verify-audit: ${approvals} approvals of ${sends} sends`)
  if (code !== 0 && wrong.length === 0) wrong.push(`verify-audit ended with ${code}`)
  return wrong
}
