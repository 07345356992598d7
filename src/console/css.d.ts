/** Name of the worker's file, which the build puts in. */
declare const WORKER_FILE: string

/** The bundler puts style sheets into one file of their own. */
declare module '*.css'
