import { Gauge, type Registry } from 'prom-client'
import type { ChainAccess, Chains } from './access.js'
import { type ChainProblem, verifyChain } from './verify-chain.js'

/**
 * Which chains have a trusted Router: one whose code, and whose delegate's code, was verified to be
 * exactly ours. Until then, and when they differ, the chain has none.
 */
interface RouterChecks {
  hasRouter(chainId: number): boolean
  close(): void
}

/** Shows findings about the configuration; absent in threads that only need the results. */
interface ChainReport {
  readonly registry: Registry
  readonly log: { warn(context: object, message: string): void }
}

/** A start waits no longer than this; chains that answer later are added then. */
const FIRST_WAIT_MS = 5_000
/**
 * The interval until every configured Router was verified. Code does not change, so the checks then
 * end.
 */
const RETRY_MS = 15_000

/** Verifies every chain's configuration, and repeats it while a Router is not trusted. */
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
        tell(config.id, problems, 'the configuration of a chain differs from the chain')
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

  async function poll(): Promise<void> {
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
    timer = setTimeout(() => void poll(), retryMs)
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

/** Problems unrelated to the Router (a vault, a symbol) do not affect it; a wrong chain does. */
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
      help: '1 when the code of Router and delegate was verified as ours.',
      labelNames: ['chain_id'],
      registers,
    }),
    problems: new Gauge({
      name: 'countersign_chain_problems',
      help: 'Problems found when comparing a chain’s configuration with the chain.',
      labelNames: ['chain_id'],
      registers,
    }),
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
