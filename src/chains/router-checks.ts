import { Gauge, type Registry } from 'prom-client'
import type { ChainAccess, Chains } from './access.js'
import { type ChainProblem, verifyChain } from './verify-chain.js'

/**
 * Which chains have a Router that can be trusted: one whose code, and whose delegate's, were seen
 * to be exactly ours. Until then, and when they differ, the chain has none.
 */
export interface RouterChecks {
  hasRouter(chainId: number): boolean
  close(): void
}

/** Where findings about the configuration are shown; absent in threads that only ask. */
export interface ChainReport {
  readonly registry: Registry
  readonly log: { warn(context: object, message: string): void }
}

/** A start does not wait for longer; chains that answer later are taken up then. */
const FIRST_WAIT_MS = 5_000
/** Until every Router configured was verified. Code does not change, so then it ends. */
const RETRY_MS = 15_000

/** Verifies every chain's configuration, and once more now and then where a Router is not trusted. */
export async function startRouterChecks(
  chains: Chains,
  report: ChainReport | null,
  retryMs = RETRY_MS,
): Promise<RouterChecks> {
  const trusted = new Set<number>()
  const reported = new Map<number, string>()
  const gauges = report === null ? null : gaugesIn(report.registry)
  let closed = false
  let timer: NodeJS.Timeout | undefined

  async function check({ rpc, config }: ChainAccess): Promise<void> {
    let problems: ChainProblem[] | null = null
    try {
      problems = await verifyChain(rpc, config)
    } catch (error) {
      tell(config.id, error, 'a chain could not be verified; it has no Router until it is')
    }
    if (problems !== null) {
      if (problems.length > 0) {
        tell(config.id, problems, 'the configuration of a chain is not what the chain says')
      }
      if (hasSoundRouter(config, problems)) trusted.add(config.id)
    }
    const chain_id = config.id
    gauges?.router.set({ chain_id }, trusted.has(config.id) ? 1 : 0)
    if (problems !== null) gauges?.problems.set({ chain_id }, problems.length)
  }

  function tell(chainId: number, what: ChainProblem[] | unknown, message: string): void {
    const problems = Array.isArray(what) ? what.map(lineOf) : [String(what)]
    const text = problems.join('; ')
    if (reported.get(chainId) === text) return
    reported.set(chainId, text)
    report?.log.warn({ chainId, problems }, message)
  }

  async function look(): Promise<void> {
    const open = [...chains.values()].filter(
      ({ config }) => config.router !== null && !trusted.has(config.id),
    )
    await Promise.all(open.map(check))
    plan()
  }

  function plan(): void {
    const done = [...chains.values()].every(
      ({ config }) => config.router === null || trusted.has(config.id),
    )
    if (closed || done) return
    timer = setTimeout(() => void look(), retryMs)
    timer.unref()
  }

  const first = Promise.all([...chains.values()].map(check)).then(plan)
  await Promise.race([first, wait(FIRST_WAIT_MS)])
  return {
    hasRouter: (chainId) => trusted.has(chainId),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** What is wrong elsewhere (a vault, a symbol) leaves the Router as it is; a wrong chain does not. */
function hasSoundRouter(
  { router, delegate }: ChainAccess['config'],
  problems: readonly ChainProblem[],
): boolean {
  const decisive = new Set(['rpc_urls', 'router', 'delegate'])
  return router !== null && delegate !== null && !problems.some(({ path }) => decisive.has(path))
}

function lineOf({ path, problem }: ChainProblem): string {
  return `${path}: ${problem}`
}

function gaugesIn(registry: Registry) {
  const registers = [registry]
  return {
    router: new Gauge({
      name: 'countersign_router_trusted',
      help: '1 where the code of Router and delegate was found to be ours.',
      labelNames: ['chain_id'],
      registers,
    }),
    problems: new Gauge({
      name: 'countersign_chain_problems',
      help: 'What of a chain’s configuration is not what the chain says.',
      labelNames: ['chain_id'],
      registers,
    }),
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
