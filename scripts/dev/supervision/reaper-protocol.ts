import type { ProcessIdentity } from './process-identity.js'

/** The reaper's message to its supervisor, once it can notice the supervisor's end. */
export const LISTENING = 'listening'

/** The supervisor's messages to its reaper. */
export type ReaperMessage =
  | { readonly type: 'watch'; readonly process: ProcessIdentity }
  | { readonly type: 'forget'; readonly pid: number }
  /** Everything was stopped in order; nothing remains to be done. */
  | { readonly type: 'dismiss' }
