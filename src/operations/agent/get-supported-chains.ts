import type { AgentHandlers } from '../context.js'
import type { OperationPorts } from '../ports.js'

export function getSupportedChains({
  chains,
  hasRouter,
}: OperationPorts): AgentHandlers['get_supported_chains'] {
  return () => ({
    ok: true,
    value: {
      chains: [...chains.values()].map(({ config }) => ({
        id: config.id,
        name: config.name,
        has_router: hasRouter(config.id),
      })),
    },
  })
}
