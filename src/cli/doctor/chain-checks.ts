import { join } from 'node:path'
import { type ChainAccess, connectChains } from '../../chains/access.js'
import { verifyChain } from '../../chains/verify-chain.js'
import { type ChainConfig, readChainsFile } from '../../config/chains.js'
import { LATEST_ROUND_DATA } from '../../contracts/selectors.js'
import { decodeRound } from '../../pricing/chainlink-round.js'
import { listsStatus } from '../../screening/lists/inspect-lists.js'
import { listsContext } from '../lists-context.js'
import { coSignerFindings } from './co-signer-checks.js'
import type { Environment } from './environments.js'
import { check, concern, type Finding, failure, fine } from './finding.js'

/** Checks the content of `chains.json` with the nodes themselves, and the lists that go with it. */

/** The most that the machine's clock may differ from the newest block, beyond the block time. */
const CLOCK_APART_MS_MAX = 30_000
const MS_PER_SECOND = 1_000
/** A stale feed is not fixed by a higher maximum age: caps are in USD. */
const STALE_FEED =
  'wait, or name its successor; if its own heartbeat is longer, set max_age_seconds to it'
const DAY_MS = 86_400_000
/** The remedy for contracts of another build too. */
const DEPLOYED_ANEW =
  'countersign contracts deploy, then the steps of CHANGELOG.md, "A Router of another build"'
const WAYS_OUT: ReadonlyMap<string, string> = new Map([
  ['router', DEPLOYED_ANEW],
  ['delegate', DEPLOYED_ANEW],
])

export async function chainChecks(home: string, service: Environment): Promise<readonly Finding[]> {
  const path = join(home, 'chains.json')
  let configs: readonly ChainConfig[] = []
  const [file] = await Promise.all([
    check('chains.json', `edit ${path}, or the environment of the service`, () => {
      configs = readChainsFile(path, service).chains
      return fine('chains.json', `${configs.length} chains`)
    }),
  ])
  if (configs.length === 0) return file
  const { chains, close } = connectChains(configs)
  try {
    const [lists, ...each] = await Promise.all([
      check('lists', 'countersign lists update', () => listChecks(home, configs, service)),
      ...[...chains.values()].map((chain) => checkChain(chain, home)),
    ])
    return [...file, ...lists, ...each.flat()]
  } finally {
    await close()
  }
}

async function checkChain(chain: ChainAccess, home: string): Promise<readonly Finding[]> {
  const { config } = chain
  const subject = `chain ${config.id}`
  const wayOut = `another node in rpc_urls of chain ${config.id}`
  const checked = [
    await check(subject, wayOut, () => answers(chain, subject)),
    await check(`${subject}: addresses`, wayOut, () => addresses(chain, subject)),
    await check(`${subject}: co-signers`, wayOut, () => coSignerFindings(chain, home)),
    await check(`${subject}: feeds`, wayOut, () => feeds(chain, subject)),
    await check(`${subject}: simulation`, wayOut, () => simulation(chain, subject)),
  ]
  return checked.flat()
}

/** Reads the node's newest block, which also shows whether this machine's clock is right. */
async function answers({ rpc, config }: ChainAccess, subject: string): Promise<Finding> {
  const block = await rpc.request<{ number: string; timestamp: string } | null>(
    'eth_getBlockByNumber',
    ['latest', false],
  )
  if (block === null) return failure(subject, 'the node has no block', 'wait until it is synced')
  const aheadMs = Date.now() - Number(block.timestamp) * MS_PER_SECOND
  const found = `block ${Number(block.number)}, ${Math.round(aheadMs / MS_PER_SECOND)} s ago`
  return Math.abs(aheadMs) > CLOCK_APART_MS_MAX + config.block_time_ms
    ? failure(subject, found, 'set the clock (timedatectl), or use a node that is synced')
    : fine(subject, found)
}

/**
 * Checks code, decimals, symbols, descriptions, Router and delegate, as the service does at its
 * start.
 */
async function addresses({ rpc, config }: ChainAccess, subject: string): Promise<Finding[]> {
  const title = `${subject}: addresses`
  const problems = await verifyChain(rpc, config)
  if (problems.length === 0) {
    const router = config.router === null ? 'no Router, so no sponsored calls' : 'Router as ours'
    return [fine(title, `as chains.json says; ${router}`)]
  }
  return problems.map(({ path, problem }) =>
    failure(`${subject}: ${path}`, problem, WAYS_OUT.get(path) ?? `correct ${path} in chains.json`),
  )
}

async function feeds({ rpc, config }: ChainAccess, subject: string): Promise<Finding[]> {
  const title = `${subject}: feeds`
  const named = new Map(
    [config.native_feed, ...config.tokens.map(({ feed }) => feed)]
      .filter((feed) => feed !== null)
      .map((feed) => [feed.address, feed.max_age_seconds]),
  )
  const rounds = await rpc.batch(
    [...named.keys()].map((to) => ({
      method: 'eth_call',
      params: [{ to, data: LATEST_ROUND_DATA }, 'latest'],
    })),
  )
  const stale = [...named].flatMap(([address, ageSecondsMax], at) => {
    const answer = rounds[at]
    const round = answer?.ok === true ? decodeRound(answer.value) : null
    if (round === null) return [`${address} does not answer`]
    const ageSeconds = Math.round(Date.now() / MS_PER_SECOND - round.updatedAtS)
    return ageSeconds > ageSecondsMax ? [`${address} is ${ageSeconds} s old`] : []
  })
  return stale.length === 0
    ? [fine(title, `${named.size} answer in time`)]
    : stale.map((found) => failure(title, found, STALE_FEED))
}

async function simulation({ simulator }: ChainAccess, subject: string): Promise<Finding> {
  const title = `${subject}: simulation`
  const methods = await simulator.abilities.methods()
  return methods.length === 0
    ? concern(
        title,
        'no node simulates: calls that are not statically known are refused',
        'a node with eth_simulateV1 or debug_traceCall',
      )
    : fine(title, methods.join(', '))
}

async function listChecks(
  home: string,
  chains: readonly ChainConfig[],
  service: Environment,
): Promise<Finding[]> {
  const mode = service.COUNTERSIGN_MODE === 'dev' ? 'dev' : 'live'
  const { ready, reason, lists, problems } = await listsStatus(listsContext(home, chains, mode))
  const wayOut = 'countersign lists update'
  const rows = lists.map(({ list, entries, ageMs, maxAgeMs, stale }) => {
    const span = maxAgeMs === null ? '' : `, ${days(ageMs)} of ${days(maxAgeMs)} days old`
    const found = `${entries} addresses${span}`
    return stale ? failure(`list ${list}`, found, wayOut) : fine(`list ${list}`, found)
  })
  return [
    ready ? fine('lists', `${lists.length} in force`) : failure('lists', reason ?? 'none', wayOut),
    ...rows,
    ...problems.map((problem) => concern('lists', problem, wayOut)),
  ]
}

function days(ms: number): string {
  return (ms / DAY_MS).toFixed(1)
}
