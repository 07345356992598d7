/**
 * Loads oidc-provider without its notice about Node 20, which asks for 22. This project supports
 * and tests both, and a warning at every start that nobody can act on hides those that matter.
 * Imported for this effect, before anything that imports oidc-provider.
 */
const NOTICE = 'oidc-provider WARNING: Unsupported runtime'

const warn = console.warn
console.warn = (...parts: unknown[]) => {
  if (!String(parts[0]).includes(NOTICE)) warn(...parts)
}
try {
  await import('oidc-provider')
} finally {
  console.warn = warn
}
