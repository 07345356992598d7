import type { Actors } from '../../actors/protocols.js'
import { DRILLS, type Drill } from '../domain/drill.js'
import { createAgentHandlers } from '../operations/agent-handlers.js'
import type { AgentHandlers } from '../operations/context.js'
import type { DrilledHandlers } from '../operations/drilled-handler.js'
import type { OperationPorts } from '../operations/ports.js'
import { STALE_PRICES } from '../valuation/stale-prices.js'

/**
 * Creates one more set of handlers for each fault that a caller may request. `main.ts` imports this
 * module only in a test environment.
 * @param around wraps the handlers of every caller
 */
export function createDrilledHandlers(
  ports: OperationPorts,
  around: (handlers: AgentHandlers) => AgentHandlers,
): DrilledHandlers {
  const made = DRILLS.map((drill) => {
    const drilled: OperationPorts = { ...ports, actors: askingFor(drill, ports.actors) }
    const handlers = createAgentHandlers(
      // Sponsored calls are valued before their wallet sees them.
      drill === 'feed-stale' ? { ...drilled, prices: STALE_PRICES } : drilled,
    )
    return [drill, around(handlers)] as const
  })
  return Object.fromEntries(made) as unknown as DrilledHandlers
}

/** Marks each write with the requested fault; other commands pass unchanged. */
function askingFor(drill: Drill, actors: Actors): Actors {
  const ask = (address: never, command: object) => {
    const sent = movesValue(command) ? { type: 'drilled', drill, command } : command
    return actors.ask(address, sent as never)
  }
  return { ask: ask as Actors['ask'], tell: actors.tell }
}

function movesValue(command: object): boolean {
  if (Array.isArray(command)) return command[0] === 'send'
  return 'type' in command && command.type === 'sponsor-call'
}
