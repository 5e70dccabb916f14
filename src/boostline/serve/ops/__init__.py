"""What an operator needs: status, metrics, verification, export, replay, compaction."""
