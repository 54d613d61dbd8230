"""From a KubeSchedulerConfiguration file to profiles of rules. Reads no files and loads no packages itself."""
