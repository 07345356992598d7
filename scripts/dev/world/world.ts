import { join } from 'node:path'
import { z } from 'zod'
import { readJsonFile, writeJsonAtomically } from '../home/json-file.js'

/**
 * The contracts of one development chain. Each top-level field is the result of one step
 * (`steps.ts`); an absent field is a step that has yet to run, so a world by an older version gains
 * what newer ones add.
 */
const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)])
const selector = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{8}$/)])

const world = z.object({
  /** Raised when the steps change so that old worlds are unusable. */
  format: z.literal(1),
  tokens: z.object({ wrapped_native: address, usdc: address }).optional(),
  feeds: z.object({ native_usd: address, usdc_usd: address }).optional(),
  sanctions_oracle: address.optional(),
  venues: z
    .object({
      swap: z.object({ factory: address, router: address, quoter: address }),
      second_token: z.object({ address, symbol: z.string(), decimals: z.int(), feed: address }),
      vaults: z.array(z.object({ address, name: z.string(), asset: address })),
      multicall3: address,
      allowed_calls: z.array(z.object({ target: address, selector })),
    })
    .optional(),
  /** Null when this chain has no Router by design. */
  router: z.object({ router: address, delegate: address }).nullable().optional(),
})

export type World = z.infer<typeof world>
export type FinishedWorld = { readonly [K in keyof World]-?: Exclude<World[K], undefined> }

export const EMPTY_WORLD: World = { format: 1 }

/** @returns null when no world of this format was built */
export function readWorld(dir: string): World | null {
  try {
    return readJsonFile(worldPath(dir), world)
  } catch {
    // The format differs, so the chain is built again.
    return null
  }
}

export function writeWorld(dir: string, built: World): void {
  writeJsonAtomically(worldPath(dir), built)
}

/** @throws Error when a step has no result */
export function finishedWorld(built: World): FinishedWorld {
  const { tokens, feeds, sanctions_oracle, venues, router } = built
  if (!tokens || !feeds || !sanctions_oracle || !venues || router === undefined) {
    throw new Error('the development world is incomplete')
  }
  return { format: built.format, tokens, feeds, sanctions_oracle, venues, router }
}

function worldPath(dir: string): string {
  return join(dir, 'world.json')
}
