"""What a run stands on: lanes, where engines come from; routers under test; the loop they share."""
