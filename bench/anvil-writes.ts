import { anvilTarget, startStack } from './stack.js'
import { measureWritePath, type WritePathFigures } from './write-path.js'

const CHAIN = 8453
const WALLETS = 64
const CALLERS = [1, 32, 128] as const
const WARM_UP_MS = 1_000

/** Measures the same write path over a real node, which then limits it. */
export async function measureAnvil(
  runMs: number,
  say: (line: string) => void,
): Promise<readonly WritePathFigures[]> {
  say('starting six anvil chains')
  const stack = await startStack(WALLETS, CHAIN)
  try {
    const target = anvilTarget(stack, CHAIN)
    await measureWritePath(target, { callers: 8, runMs: WARM_UP_MS })
    const loads: WritePathFigures[] = []
    for (const callers of CALLERS) {
      say(`anvil, ${callers} callers`)
      loads.push(await measureWritePath(target, { callers, runMs }))
    }
    return loads
  } finally {
    await stack.stop()
  }
}
