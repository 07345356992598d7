import { join } from 'node:path'
import { gigabytes, shortOfDisk } from './disk.js'
import { count, ms, table, verdicts } from './figures.js'
import { fillHistory, type History } from './fill-history.js'
import { number } from './option-kinds.js'
import { readOptions, refuse } from './options.js'
import { publish } from './results-file.js'
import { say } from './say.js'
import { startSinkStack } from './sink-stack.js'

/**
 * `npm run bench -- search`: how long the service takes for the console's lists, filters and searches,
 * over real HTTP, for a user with ten thousand keys and a million transactions. Each is requested
 * from the start and from the middle, several times; the slowest counts.
 */
const TRANSACTION_BYTES = 2_400
const run = readOptions({
  name: 'search',
  takes: 'about 5 minutes with the defaults, nearly all of it filling the store',
  disk: `${gigabytes(TRANSACTION_BYTES * 1e6)} with the defaults, removed at the end`,
  results: 'search.json',
  runsOn: 'linux',
  options: {
    transactions: number('transactions of the user', {
      ...{ steps: 'whole', min: 2_000, max: 20_000_000, byDefault: 1_000_000 },
    }),
    keys: number('keys of the user', { steps: 'whole', min: 10, max: 100_000, byDefault: 10_000 }),
    refusals: number('refusals of the last month', {
      ...{ steps: 'whole', min: 0, max: 1_000_000, byDefault: 100_000 },
    }),
    times: number('how often each is asked', { steps: 'whole', min: 1, max: 100, byDefault: 5 }),
  },
})
const { transactions, keys, refusals, times } = run.values
const short = shortOfDisk(transactions * TRANSACTION_BYTES)
if (short !== null) refuse(`${short}; --transactions takes a smaller number too`)
const ANSWER_MS_MAX = 200
const PROGRESS_MS = 5_000

interface Question {
  readonly label: string
  readonly path: string
}

interface Asked extends Question {
  readonly firstMs: number
  readonly slowestMs: number
  readonly bytes: number
}

const stack = await startSinkStack({ wallets: 1 })
try {
  let history: History | null = null
  let saidAt = performance.now()
  await stack.restartService(async () => {
    const store = join(stack.home, 'service', 'store')
    history = await fillHistory(store, { keys, transactions, refusals }, (what, written, of) => {
      if (performance.now() - saidAt < PROGRESS_MS) return
      saidAt = performance.now()
      say(`${what}: ${count(written)} of ${count(of)}`)
    })
  })
  if (history === null) throw new Error('nothing was filled')
  say(`filled; ${times} times each`)
  const asked: Asked[] = []
  for (const question of questionsOf(history)) asked.push(await ask(question))
  const slowest = Math.max(...asked.map(({ slowestMs }) => slowestMs))
  const bars = { [`each_answer_within_${ANSWER_MS_MAX}_ms`]: slowest < ANSWER_MS_MAX }
  publish(
    run,
    { ratios: {}, bars, answers: asked },
    [
      table(
        [
          `${count(transactions)} transactions, ${count(keys)} keys`,
          'first ms',
          'slowest ms',
          'kB',
        ],
        asked.map(({ label, firstMs, slowestMs, bytes }) => [
          ...[label, ms(firstMs), ms(slowestMs), (bytes / 1_000).toFixed(1)],
        ]),
      ),
      '',
      ...verdicts(bars),
    ].join('\n'),
  )
} finally {
  await stack.stop()
}

async function ask(question: Question): Promise<Asked> {
  const took: number[] = []
  let bytes = 0
  for (let time = 0; time < times; time++) {
    const startedAt = performance.now()
    const response = await fetch(`${stack.baseUrl}/api/v1/agent/${question.path}`, {
      headers: { authorization: `Bearer ${stack.consoleToken}` },
    })
    const text = await response.text()
    took.push(performance.now() - startedAt)
    if (response.status !== 200) throw new Error(`${question.path}: ${response.status} ${text}`)
    bytes = text.length
  }
  return { ...question, firstMs: took[0] ?? 0, slowestMs: Math.max(...took), bytes }
}

/** All keys are named `agent` and a number. */
function namesAsked(): readonly Question[] {
  const texts = [
    ['all of them', 'agent'],
    ['one of them', `agent ${keys - 1}`],
    ['a tenth of them', 'agent 1'],
    ['a word that no other name has', 'agent nobody'],
  ] as const
  return ['keys', 'wallets', 'spend'].flatMap((list) =>
    texts.map(([label, text]) => ({
      label: `${list} by name, ${label}`,
      path: `${list}?limit=100&search=${encodeURIComponent(text)}`,
    })),
  )
}

function questionsOf(history: History): readonly Question[] {
  const { keyIds, subWalletIds, txIdOf, hashesOf, payeeOf } = history
  const middle = Math.floor(transactions / 2)
  const old = Math.floor(transactions / 10)
  // The seventh was replaced once.
  const replaced = old - (old % 7)
  const [keyId, walletId] = [keyIds[7], subWalletIds[3]]
  const filters: readonly (readonly [string, string])[] = [
    ['all', ''],
    ['of a key', `key_id=${keyId}`],
    ['of a key, failed', `key_id=${keyId}&status=failed`],
    ['of a wallet, swaps', `sub_wallet_id=${walletId}&kind=swap`],
    ['of a chain', 'chain_id=8453'],
    ['of a chain, dropped swaps', 'chain_id=10&kind=swap&status=dropped'],
    ['failed', 'status=failed'],
    ['in flight: no results', 'status=broadcast'],
    ['gas swaps: no results', 'kind=gas_swap'],
    ['an id', `search=${txIdOf(old)}`],
    ['a hash', `search=${hashesOf(old + 1)[0]}`],
    ['a replaced hash', `search=${hashesOf(replaced)[0]}`],
    ['a hash that nothing has', `search=0x${'f'.repeat(64)}`],
    ['an address', `search=${payeeOf(1_234)}`],
    ['an address, of a chain', `search=${payeeOf(1_234)}&chain_id=8453`],
    ['an address that nothing has', `search=0x${'f'.repeat(40)}`],
    ['a key that nobody has', 'key_id=key_00000000000000000000000000'],
  ]
  const searches = filters.flatMap(([label, query]) => [
    { label: `transactions, ${label}`, path: `transactions?limit=50&${query}` },
    {
      label: `transactions, ${label}, from the middle`,
      path: `transactions?limit=50&cursor=${txIdOf(middle)}&${query}`,
    },
  ])
  return [
    ...searches,
    { label: 'one transaction', path: `transactions/${txIdOf(middle)}` },
    { label: 'keys', path: 'keys?limit=100' },
    { label: 'keys, from the middle', path: `keys?limit=100&cursor=${keyIds[keys >> 1]}` },
    ...namesAsked(),
    { label: 'wallets', path: 'wallets?limit=100' },
    { label: 'spend', path: 'spend?limit=100' },
    { label: 'spend by day', path: 'spend?limit=100&days=30' },
    {
      label: 'spend by day, from the middle',
      path: `spend?limit=100&days=30&cursor=${keyIds[keys >> 1]}`,
    },
    { label: 'spend, nearest their caps', path: 'spend?limit=10&order=nearest_cap' },
    { label: 'spend of all keys', path: 'spend/totals' },
    { label: 'spend of all keys by day', path: 'spend/totals?days=30' },
    { label: 'spend of a key', path: `spend?key_id=${keyId}` },
    { label: 'spend of a key by day', path: `spend?key_id=${keyId}&days=30` },
    { label: 'refusals of a day', path: 'refusals' },
    { label: 'refusals of a month', path: 'refusals?hours=744' },
    { label: 'refusals of a key', path: `refusals?hours=744&key_id=${keyId}` },
    { label: 'audit', path: 'audit?limit=50' },
    { label: 'audit, refusals', path: 'audit?limit=50&type=send.refused' },
    { label: 'audit of a key', path: `audit?limit=50&key_id=${keyId}` },
    { label: 'audit, of a type without entries', path: 'audit?limit=50&type=key.revoked' },
    { label: 'audit of a transaction', path: `audit?tx_id=${txIdOf(middle)}` },
    { label: 'approvals', path: 'approvals?limit=50' },
    { label: 'events', path: 'events?limit=50' },
    { label: 'webhooks', path: 'webhooks' },
    { label: 'address rules', path: 'address-rules' },
  ]
}
