import { resolve } from 'node:path'

/** What every process of the quorum reads from its environment; secrets are never in it. */
export interface ProcessEnvironment {
  /** Absolute path of the home directory. */
  readonly home: string
  readonly mode: 'dev' | 'live'
}

/** @throws Error for a mode that is neither `dev` nor `live`; live is the default */
export function readProcessEnvironment(env: NodeJS.ProcessEnv): ProcessEnvironment {
  const mode = env.COUNTERSIGN_MODE ?? 'live'
  if (mode !== 'dev' && mode !== 'live') throw new Error('COUNTERSIGN_MODE must be dev or live')
  return { home: resolve(env.COUNTERSIGN_HOME ?? '.countersign'), mode }
}
