import { countersign } from '../custody/command.js'

/**
 * What the command `verify-audit --rpc` says of a home, run as an operator would run it.
 * @param urls nodes that are asked which nonces were used
 * @param services data of every node that signed; default: the home's own
 * @returns its sentences; empty when both logs are whole and explain every nonce
 */
export async function verifyAudit(
  home: string,
  urls: readonly string[],
  services: readonly string[] = [],
): Promise<string[]> {
  const options = [
    ...(urls.length === 0 ? [] : ['--rpc', ...urls]),
    ...(services.length === 0 ? [] : ['--service', ...services]),
  ]
  const { code, stdout, stderr } = await countersign(home, ['verify-audit', '--json', ...options])
  const summary = parsed(stdout)
  if (summary === null) return [`verify-audit ended with ${code}: ${stderr}`]
  if (summary.approvals === 0) return ['verify-audit found no approvals']
  return code === 0 || summary.problems.length > 0
    ? summary.problems
    : [`verify-audit ended with ${code} and named no problem`]
}

function parsed(text: string): { approvals: number; problems: string[] } | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
