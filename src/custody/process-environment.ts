import { resolve } from 'node:path'
import type { FileKeys } from './key-stores/open-key-store.js'

/**
 * The settings that every process of the quorum reads from its environment, which never holds
 * secrets.
 */
interface ProcessEnvironment {
  /** Absolute path of the home directory. */
  readonly home: string
  readonly mode: 'dev' | 'live'
  readonly fileKeys: FileKeys
}

/** @throws Error for a mode that is neither `dev` nor `live`; live is the default */
export function readProcessEnvironment(env: NodeJS.ProcessEnv): ProcessEnvironment {
  const mode = env.COUNTERSIGN_MODE ?? 'live'
  if (mode !== 'dev' && mode !== 'live') throw new Error('COUNTERSIGN_MODE must be dev or live')
  const fileKeys = fileKeysOf(mode, env)
  return { home: resolve(env.COUNTERSIGN_HOME ?? '.countersign'), mode, fileKeys }
}

/**
 * Live mode accepts P-256 keys from files only with an explicit setting, because files can be
 * copied.
 */
export function fileKeysOf(mode: 'dev' | 'live', env: NodeJS.ProcessEnv): FileKeys {
  return mode === 'dev' || env.COUNTERSIGN_ALLOW_FILE_KEYS === '1' ? 'allowed' : 'refused'
}
