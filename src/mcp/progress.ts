import type { ServerContext } from '@modelcontextprotocol/server'

/**
 * Reports progress of a write to callers that sent a `progressToken`: one notification when it
 * starts and one a second while it runs, so that hosts neither time out nor look frozen. An
 * operation does not report its steps, so the count is seconds.
 */

const INTERVAL_MS = 1_000
const MESSAGE = 'checking limits, screening, signing and broadcasting'

export async function reportProgress<T>(
  { mcpReq }: ServerContext,
  pending: T | Promise<T>,
): Promise<T> {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return pending
  let progress = 0
  const report = () => {
    const params = { progressToken, progress, message: MESSAGE }
    progress += 1
    // A caller that disconnected is no reason to stop a payment that has begun.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
  report()
  const timer = setInterval(report, INTERVAL_MS)
  try {
    return await pending
  } finally {
    clearInterval(timer)
  }
}
